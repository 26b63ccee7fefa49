import { describe, expect, it } from "vitest";
import { ticksFromSeconds } from "../../base/ticks.ts";
import { Right } from "./access.ts";
import { acknowledgeBreak } from "./caching.ts";
import { noLocks, type LockState, type Open } from "./lock-state.ts";
import { decideFileAccess, flushSecondsMax } from "./rest-access.ts";
import type { FileOperation } from "../file-operation.ts";
import type { NodeRecord } from "../records.ts";
import { listDirectory } from "../directory/list-directory.ts";
import { createFile } from "../node/create-file.ts";
import { deleteFile } from "../node/delete-file.ts";
import { setFileMetadata } from "../node/metadata.ts";
import { leaseFile, setFileProperties } from "../node/set-file-properties.ts";
import { getFile, getFileProperties } from "../node/get-file.ts";
import { listRanges } from "../range/list-ranges.ts";
import { clearRange, putRange } from "../range/put-range.ts";

const everything = Right.readData | Right.writeData | Right.delete;

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

/** Decides by what the operation's declaration says, as its execution does. */
function decide(
  locks: LockState,
  { fileAccess }: FileOperation,
  more: Parameters<typeof decideFileAccess>[2],
) {
  if (fileAccess === "none") throw new Error("the operation declares no access");
  return decideFileAccess(locks, fileAccess, more);
}

const touching: readonly FileOperation[] = [
  createFile,
  getFile,
  setFileProperties,
  setFileMetadata,
  deleteFile,
  putRange,
  listRanges,
  leaseFile,
];

/** Which operations fail against an open for everything, by its share mode, as documented. */
const failing: Readonly<Record<string, readonly FileOperation[]>> = {
  "": touching,
  r: [createFile, setFileProperties, setFileMetadata, deleteFile, putRange, leaseFile],
  w: [createFile, getFile, deleteFile, listRanges, leaseFile],
  d: touching,
  rw: [createFile, deleteFile, leaseFile],
  rd: [createFile, setFileProperties, setFileMetadata, deleteFile, putRange, leaseFile],
  wd: [getFile, deleteFile, listRanges, leaseFile],
  rwd: [deleteFile, leaseFile],
};

describe("a REST operation against an SMB open", () => {
  for (const [mode, expected] of Object.entries(failing)) {
    it(`fails as documented for share mode "${mode}"`, () => {
      const bits = { r: 1, w: 2, d: 4 };
      let share = 0;
      for (const letter of mode) share |= bits[letter as keyof typeof bits];
      const refused = touching.filter((operation) => {
        const decision = decide(held(everything, share), operation, { now: 0n });
        return decision.kind === "refused";
      });
      expect(refused).toEqual(touching.filter((operation) => expected.includes(operation)));
    });
  }

  it("passes if it only lists names or reads properties", () => {
    for (const operation of [listDirectory, getFileProperties]) {
      const decision = decide(held(everything, 0), operation, { now: 0n });
      expect(decision.kind).toBe("pass");
    }
  });

  it("fails for any handle if it deletes, even one without data access", () => {
    const decision = decide(held(Right.readAttributes, 7), deleteFile, { now: 0n });
    expect(decision).toMatchObject({ failure: { fault: { code: "SharingViolation" } } });
  });

  it("fails while the file is delete-pending", () => {
    const decision = decide(held(Right.readData, 7, { deletePending: true }), getFile, {
      now: 0n,
    });
    expect(decision).toMatchObject({ failure: { fault: { code: "DeletePending" } } });
  });

  it("acquires a lease beside readers, not beside writers", () => {
    const kinds = [Right.readData, Right.writeData, Right.delete].map(
      (access) => decide(held(access, 7), leaseFile, { now: 0n }).kind,
    );
    expect(kinds).toEqual(["pass", "refused", "refused"]);
  });
});

describe("a REST operation against byte-range locks", () => {
  const range = { open: 1n, offset: 100n, length: 10n };
  const cases = [
    [getFile, true, 105n, "refused"],
    [getFile, false, 105n, "pass"],
    [putRange, false, 105n, "refused"],
    [putRange, true, 110n, "pass"],
    [putRange, true, 99n, "refused"],
  ] as const;
  for (const [operation, exclusive, offset, kind] of cases) {
    it(`${operation.name} at ${offset} past a lock (exclusive: ${exclusive}) is ${kind}`, () => {
      const locks = held(everything, 7, { ranges: [{ ...range, exclusive }] });
      const span = { offset, length: 10n };
      expect(decide(locks, operation, { now: 0n, span }).kind).toBe(kind);
    });
  }
});

describe("the bytes that an operation declares", () => {
  const length = 1000;
  const target = { content: { kind: "inline", length, bytes: new Uint8Array(length) } };
  /** Operation, input, first byte and number of bytes; undefined: no bytes that may be locked. */
  const cases: readonly [FileOperation, object, readonly bigint[] | undefined][] = [
    [putRange, { range: { from: 5, length: 3 } }, [5n, 3n]],
    [clearRange, { range: { from: 5, length: 3 } }, [5n, 3n]],
    [getFile, {}, [0n, 1000n]],
    [getFile, { range: { first: 10, last: 19 } }, [10n, 10n]],
    [getFile, { range: { first: 990, last: 5000 } }, [990n, 10n]],
    [getFile, { range: { first: 2000, last: 3000 } }, undefined],
    [listRanges, { range: { first: 10, last: 19 } }, [0n, 1000n]],
    [createFile, { length: 5 }, [0n, 1000n]],
    [setFileProperties, { length: 400 }, [400n, 600n]],
    [setFileProperties, { length: 2000 }, undefined],
    [setFileProperties, {}, undefined],
    [setFileMetadata, {}, undefined],
    [deleteFile, {}, undefined],
  ];
  it.each(cases.map((row) => [row[0].name, ...row] as const))("%s, %#", (...row) => {
    const [, { fileAccess }, input, expected] = row;
    if (fileAccess === "none") throw new Error("the operation declares no access");
    const span = fileAccess.range?.(input, target as unknown as NodeRecord);
    expect(span && [span.offset, span.length]).toEqual(expected);
  });
});

describe("the lease actions that exclude other clients", () => {
  it.each([
    ["acquire", true],
    ["change", false],
    ["release", false],
    ["break", false],
  ])("%s: %s", (action, expected) => {
    const { fileAccess } = leaseFile;
    if (fileAccess === "none") throw new Error("the operation declares no access");
    expect(fileAccess.appliesTo?.({ action: { action } })).toBe(expected);
  });
});

describe("a REST operation against caches", () => {
  /** Operation, rights held, whether it waits, rights that remain. */
  const cases: readonly (readonly [FileOperation, number, boolean, number])[] = [
    [getFile, 7, true, 3],
    [getFile, 3, false, 3],
    [getFile, 5, true, 1],
    [getFileProperties, 7, true, 3],
    [listDirectory, 7, false, 7],
    [putRange, 7, true, 0],
    [putRange, 3, false, 0],
    [putRange, 5, true, 0],
    [putRange, 1, false, 0],
    [deleteFile, 7, true, 5],
    [deleteFile, 3, true, 1],
  ];
  for (const [operation, bits, waits, left] of cases) {
    it(`${operation.name} on ${bits} ${waits ? "waits" : "passes"}, leaves ${left}`, () => {
      const locks = held(Right.readAttributes, 7, {
        caches: [{ key: "lease", held: bits, epoch: 1 }],
      });
      const decision = decide(locks, operation, { now: 5n });
      if (decision.kind === "refused") throw new Error("not refused");
      expect(decision.kind).toBe(waits ? "wait" : "pass");
      const [cache] = decision.state.caches;
      expect(cache?.breaking?.to ?? cache?.held).toBe(left);
      if (cache?.breaking === undefined) return;
      const answered = acknowledgeBreak(decision.state, { key: "lease", kept: left, now: 3n });
      if (typeof answered === "string") throw new Error(answered);
      const again = decide(answered, operation, { now: 6n });
      expect(again.kind).toBe(operation === deleteFile ? "refused" : "pass");
    });
  }

  it("fails after 30 s without an acknowledgement", () => {
    const locks = held(Right.readData, 7, { caches: [{ key: "lease", held: 7, epoch: 1 }] });
    const first = decide(locks, getFile, { now: 0n });
    if (first.kind !== "wait") throw new Error("it waits");
    const now = ticksFromSeconds(flushSecondsMax);
    const later = decide(first.state, getFile, { now });
    expect(later).toMatchObject({ failure: { fault: { code: "ClientCacheFlushDelay" } } });
  });
});
