import { describe, expect, test } from "vitest";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../../store/memory/open-memory-store.ts";
import { openProcesses } from "../../store/processes.ts";
import { StoreBusy } from "../../store/store.ts";
import { IdAllocator } from "../extents/ids.ts";
import { PinTracker, sharedHorizons } from "./pins.ts";

const second = 10_000_000n;

describe("the read horizon of a process", () => {
  test("follows the newest state with the delay of the maximum view age", () => {
    const clock = manualClock();
    const board = new PinTracker(clock, 5n * second);
    expect(board.horizon(10)).toBe(0);
    clock.advance(4000);
    expect(board.horizon(20)).toBe(0);
    clock.advance(1000);
    expect(board.horizon(30)).toBe(10);
    clock.advance(4000);
    expect(board.horizon(40)).toBe(20);
    // On a full disk the newest state may be passed after one second.
    expect(board.horizon(40, true)).toBe(30);
  });

  test("never passes a pin, and continues after the last one is released", () => {
    const board = new PinTracker(manualClock(), 0n);
    const unpinFirst = board.pin(5);
    const unpinSecond = board.pin(5);
    board.pin(8);
    expect(board.horizon(20)).toBe(5);
    unpinFirst();
    unpinFirst();
    expect(board.horizon(21)).toBe(5);
    unpinSecond();
    expect(board.horizon(22)).toBe(8);
    expect(() => board.pin(7)).toThrow(StoreBusy);
  });

  test("advances however often it is read within the maximum view age", () => {
    const clock = manualClock();
    const board = new PinTracker(clock, 5n * second);
    let promised = 0;
    for (let round = 1; round <= 2000; round += 1) {
      clock.advance(10);
      promised = board.horizon(round);
    }
    expect(promised).toBeGreaterThan(1000);
    expect(promised).toBeLessThanOrEqual(1500);
  });
});

test("processes see the horizons of running processes only", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  const alive = new Set([1, 2]);
  const open = (pid: number) =>
    openProcesses({
      store,
      self: { pid, startTime: "0" },
      isAlive: (each) => alive.has(each.pid),
    });
  const first = sharedHorizons(await open(1));
  const other = sharedHorizons(await open(2));
  await first.publish(7);
  expect(await other.published()).toEqual(
    new Map([
      [first.self, 7],
      [other.self, 0],
    ]),
  );
  alive.delete(1);
  expect(await other.published()).toEqual(new Map([[other.self, 0]]));
});

test("ids differ between processes and fit a signed integer", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  const all = new Set<bigint>();
  for (let run = 0; run < 5; run += 1) {
    const ids = await IdAllocator.open(store);
    for (let draw = 0; draw < 100; draw += 1) all.add(ids.next());
  }
  expect(all.size).toBe(500);
  for (const id of all) expect(BigInt.asIntN(64, id)).toBe(id);
});
