import { describe, expect, it } from "vitest";
import { ticksFromSeconds } from "../../base/ticks.ts";
import { deleteAccess, readAttributes, readData, writeData } from "./access.ts";
import { acknowledgeBreak } from "./caching.ts";
import { noLocks, type LockState, type Open } from "./lock-state.ts";
import { decideShortOpen, flushSecondsMax, type RestOperation } from "./rest-access.ts";

const everything = readData | writeData | deleteAccess;

function held(access: number, share: number, more: Partial<LockState> = {}): LockState {
  const open: Open = {
    id: 1n,
    owner: "test",
    access,
    share,
    deleteOnClose: false,
    cacheKey: "lease",
    session: 1n,
    client: "",
    openedAt: 0n,
  };
  return { ...noLocks, opens: [open], ...more };
}

const touching: readonly RestOperation[] = [
  "Create File",
  "Get File",
  "Set File Properties",
  "Set File Metadata",
  "Delete File",
  "Put Range",
  "List Ranges",
  "Lease File",
];

/** Which operations fail against an open for everything, by its share mode, as documented. */
const failing: Readonly<Record<string, readonly RestOperation[]>> = {
  "": touching,
  r: [
    "Create File",
    "Set File Properties",
    "Set File Metadata",
    "Delete File",
    "Put Range",
    "Lease File",
  ],
  w: ["Create File", "Get File", "Delete File", "List Ranges", "Lease File"],
  d: touching,
  rw: ["Create File", "Delete File", "Lease File"],
  rd: [
    "Create File",
    "Set File Properties",
    "Set File Metadata",
    "Delete File",
    "Put Range",
    "Lease File",
  ],
  wd: ["Get File", "Delete File", "List Ranges", "Lease File"],
  rwd: ["Delete File", "Lease File"],
};

describe("a REST operation against an SMB open", () => {
  for (const [mode, expected] of Object.entries(failing)) {
    it(`fails as documented for share mode "${mode}"`, () => {
      const bits = { r: 1, w: 2, d: 4 };
      let share = 0;
      for (const letter of mode) share |= bits[letter as keyof typeof bits];
      const refused = touching.filter((operation) => {
        const passage = decideShortOpen(held(everything, share), operation, { now: 0n });
        return passage.kind === "refused";
      });
      expect(refused).toEqual(touching.filter((operation) => expected.includes(operation)));
    });
  }

  it("never minds one that only lists or looks", () => {
    for (const operation of ["List Directories and Files", "Get File Properties"] as const) {
      const passage = decideShortOpen(held(everything, 0), operation, { now: 0n });
      expect(passage.kind).toBe("pass");
    }
  });

  it("minds any handle when it deletes, even one that only looks", () => {
    const passage = decideShortOpen(held(readAttributes, 7), "Delete File", { now: 0n });
    expect(passage).toMatchObject({ failure: { fault: { code: "SharingViolation" } } });
  });

  it("is refused whatever it does while the file is going away", () => {
    const passage = decideShortOpen(held(readData, 7, { deletePending: true }), "Get File", {
      now: 0n,
    });
    expect(passage).toMatchObject({ failure: { fault: { code: "DeletePending" } } });
  });

  it("lets a lease stand beside readers, not beside writers", () => {
    const kinds = [readData, writeData, deleteAccess].map(
      (access) => decideShortOpen(held(access, 7), "Lease File", { now: 0n }).kind,
    );
    expect(kinds).toEqual(["pass", "refused", "refused"]);
  });
});

describe("a REST operation against byte-range locks", () => {
  const range = { open: 1n, offset: 100n, length: 10n };
  const cases = [
    ["Get File", true, 105n, "refused"],
    ["Get File", false, 105n, "pass"],
    ["Put Range", false, 105n, "refused"],
    ["Put Range", true, 110n, "pass"],
    ["Put Range", true, 99n, "refused"],
  ] as const;
  for (const [operation, exclusive, offset, kind] of cases) {
    it(`${operation} at ${offset} past a lock (exclusive: ${exclusive}) is ${kind}`, () => {
      const locks = held(everything, 7, { ranges: [{ ...range, exclusive }] });
      const stretch = { offset, length: 10n };
      expect(decideShortOpen(locks, operation, { now: 0n, stretch }).kind).toBe(kind);
    });
  }
});

describe("a REST operation against caches", () => {
  /** Operation, what is held, whether it waits, what is left after the answer. */
  const cases: readonly (readonly [RestOperation, number, boolean, number])[] = [
    ["Get File", 7, true, 3],
    ["Get File", 3, false, 3],
    ["Get File", 5, true, 1],
    ["Get File Properties", 7, true, 3],
    ["List Directories and Files", 7, false, 7],
    ["Put Range", 7, true, 0],
    ["Put Range", 3, false, 0],
    ["Put Range", 5, true, 0],
    ["Put Range", 1, false, 0],
    ["Delete File", 7, true, 5],
    ["Delete File", 3, true, 1],
  ];
  for (const [operation, bits, waits, left] of cases) {
    it(`${operation} on ${bits} ${waits ? "waits" : "goes on"}, and leaves ${left}`, () => {
      const locks = held(readAttributes, 7, { caches: [{ key: "lease", held: bits, epoch: 1 }] });
      const passage = decideShortOpen(locks, operation, { now: 5n });
      if (passage.kind === "refused") throw new Error("not refused");
      expect(passage.kind).toBe(waits ? "wait" : "pass");
      const [cache] = passage.state.caches;
      expect(cache?.breaking?.to ?? cache?.held).toBe(left);
      if (cache?.breaking === undefined) return;
      const answered = acknowledgeBreak(passage.state, { key: "lease", kept: left, now: 3n });
      if (typeof answered === "string") throw new Error(answered);
      const again = decideShortOpen(answered, operation, { now: 6n });
      expect(again.kind).toBe(operation === "Delete File" ? "refused" : "pass");
    });
  }

  it("gives up after half a minute", () => {
    const locks = held(readData, 7, { caches: [{ key: "lease", held: 7, epoch: 1 }] });
    const first = decideShortOpen(locks, "Get File", { now: 0n });
    if (first.kind !== "wait") throw new Error("it waits");
    const now = ticksFromSeconds(flushSecondsMax);
    const later = decideShortOpen(first.state, "Get File", { now });
    expect(later).toMatchObject({ failure: { fault: { code: "ClientCacheFlushDelay" } } });
  });
});
