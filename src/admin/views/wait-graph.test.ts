import { expect, it } from "vitest";
import { noLocks, type LockState, type Open } from "../../file/locks/lock-state.ts";
import { breakHolders, findCycles, rangeHolders } from "./waits.ts";

function open(id: bigint, client: string, cacheKey?: string): Open {
  const facts = { owner: "", access: 0, share: 7, deleteOnClose: false, session: 1n };
  return { id, client, cacheKey, openedAt: 0n, ...facts };
}

it.each([
  ["no edges", [], []],
  ["a chain", ["a>b", "b>c"], []],
  ["two clients", ["a>b", "b>a"], [["a", "b"]]],
  ["a cycle behind a chain", ["x>a", "a>b", "b>c", "c>a"], [["a", "b", "c"]]],
  ["a client that waits for its own lock", ["a>a"], []],
  ["a client that waits for two others", ["a>b,c", "c>a"], [["a", "c"]]],
] as const)("finds the cycles of %s", (_, given, cycles) => {
  const edges = given.map((text) => {
    const [waiter = "", holders = ""] = text.split(">");
    return { waiter, holders: holders.split(",") };
  });
  expect(findCycles(edges)).toEqual(cycles);
});

it("follows a chain of many clients", () => {
  const count = 20_000;
  const edges = Array.from({ length: count }, (_, index) => ({
    waiter: String(index),
    holders: [String((index + 1) % count)],
  }));
  expect(findCycles(edges.slice(1))).toEqual([]);
});

it("names the handles whose byte ranges or caching prevent a request", () => {
  const state: LockState = {
    ...noLocks,
    opens: [open(1n, "one", "k1"), open(2n, "two", "k2")],
    ranges: [
      { open: 1n, offset: 0n, length: 10n, exclusive: true },
      { open: 2n, offset: 10n, length: 5n, exclusive: false },
    ],
    caches: [
      { key: "k1", held: 7, epoch: 1, breaking: { to: 1, askedAt: 0n } },
      { key: "k2", held: 1, epoch: 1 },
    ],
  };
  expect(rangeHolders(state, [{ offset: 12n, length: 1n }])).toEqual([
    { client: "two", open: "2", what: "shared lock of 5 bytes at 10" },
  ]);
  expect(breakHolders(state)).toEqual([
    { client: "one", open: "1", what: "caching RWH, asked to keep R" },
  ]);
});
