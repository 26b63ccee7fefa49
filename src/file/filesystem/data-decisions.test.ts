import { describe, expect, it } from "vitest";
import { noLocks, type LockState } from "../locks/lock-state.ts";
import { rootId } from "../records.ts";
import {
  contentOf,
  testDirectory,
  testFile,
  testLease,
  testLocks,
} from "../../../tests/harness/file-decisions.ts";
import { lockOperation, unlockOperation } from "./lock.ts";
import { readOperation } from "./info.ts";
import { deletePendingOperation, setBasicOperation } from "./set-info.ts";
import {
  cachedBy,
  handle,
  kindOf,
  loadedFile,
  lockedBy,
} from "../../../tests/harness/handle-decisions.ts";
import { newId, now, own, reference, rangeLock } from "../../../tests/harness/handle-decisions.ts";
import { resizeOperation, writeOperation, zeroOperation } from "./write.ts";

describe("bytes that other clients have locked or cached", () => {
  const node = testFile({ content: contentOf(1000) });
  const request = { reference, handle, keepsLastWrite: false };
  const received = { length: 10, pieces: [] };
  const read = (locks: LockState, from: number) =>
    readOperation.check?.({
      now,
      loaded: loadedFile(node, locks),
      request: { ...request, from, length: 10 },
    });
  const write = (locks: LockState, at: number) => {
    const bytes = new Uint8Array(10);
    return writeOperation.check?.({
      now,
      loaded: loadedFile(node, locks),
      request: { ...request, at, bytes, received },
    });
  };
  const zero = (locks: LockState, from: number) =>
    zeroOperation.check?.({
      now,
      loaded: loadedFile(node, locks),
      request: { ...request, span: { from, length: 10 } },
    });
  const resize = (locks: LockState, length: number) =>
    resizeOperation.check?.({
      now,
      loaded: loadedFile(node, locks),
      request: { ...request, length },
    });
  const cases = [
    ["read beside another's exclusive lock", read(lockedBy(2n, true), 90), "reply"],
    ["read of another's exclusive lock", read(lockedBy(2n, true), 95), "lock-conflict"],
    ["read of another's shared lock", read(lockedBy(2n, false), 95), "reply"],
    ["read of its own exclusive lock", read(lockedBy(1n, true), 95), "reply"],
    ["write to another's exclusive lock", write(lockedBy(2n, true), 95), "lock-conflict"],
    ["write to another's shared lock", write(lockedBy(2n, false), 95), "lock-conflict"],
    ["write to its own shared lock", write(lockedBy(1n, false), 95), "lock-conflict"],
    ["write to its own exclusive lock", write(lockedBy(1n, true), 95), "reply"],
    ["zeros over another's lock", zero(lockedBy(2n, true), 105), "lock-conflict"],
    ["a cut before another's lock", resize(lockedBy(2n, true), 50), "lock-conflict"],
    ["a cut behind another's lock", resize(lockedBy(2n, true), 110), "reply"],
    ["read of bytes cached for reading and writing", read(cachedBy(2n, 7), 0), "reply"],
    ["write to bytes cached for writing", write(cachedBy(2n, 5), 0), "wait"],
    ["write to bytes cached for reading", write(cachedBy(2n, 1), 0), "reply"],
    ["write to bytes in its own cache", write(cachedBy(1n, 7), 0), "reply"],
    ["write behind the largest file", write(noLocks, 4 * 1024 ** 4), "too-large"],
    ["an end behind the largest file", resize(noLocks, 4 * 1024 ** 4 + 1), "too-large"],
  ] as const;
  it.each(cases)("%s", (_, decision, expected) => {
    expect(kindOf(decision ?? [])).toBe(expected);
  });
});

describe("a read", () => {
  it.each([
    [0, 10, 10],
    [995, 10, 5],
    [1000, 0, 0],
    [1000, 1, "end-of-file"],
  ])("at %d of %d bytes: %s", (from, length, expected) => {
    const node = testFile({ content: contentOf(1000) });
    const request = { reference, handle, from, length };
    const decision = readOperation.decide({
      now,
      request,
      loaded: loadedFile(node),
      readResult: undefined,
      newId,
    });
    expect("value" in decision ? decision.value.length : kindOf(decision)).toBe(expected);
  });
});

describe("a change of attributes and a REST lease", () => {
  it.each([
    ["free", testFile(), "reply"],
    ["leased", testFile({ lease: testLease }), "sharing-violation"],
  ])("%s", (_, node, expected) => {
    const request = { reference, handle, attributes: 1 };
    const checked = setBasicOperation.check?.({ now, request, loaded: loadedFile(node) });
    expect(kindOf(checked ?? [])).toBe(expected);
  });
});

describe("marking for deletion", () => {
  const cases = [
    ["a file", testFile(), false, testLocks([own]), "reply"],
    ["a read-only file", testFile({ attributes: 1 }), false, testLocks([own]), "cannot-delete"],
    ["an empty directory", testDirectory(), false, testLocks([own]), "reply"],
    ["a full directory", testDirectory(), true, testLocks([own]), "directory-not-empty"],
    [
      "a full read-only directory",
      testDirectory({ attributes: 0x11 }),
      true,
      testLocks([own]),
      "cannot-delete",
    ],
    ["the root", testDirectory({ id: rootId }), true, testLocks([own]), "cannot-delete"],
    ["a file whose handle is cached", testFile(), false, cachedBy(2n, 3), "wait"],
    [
      "a full directory whose handle is cached",
      testDirectory(),
      true,
      cachedBy(2n, 3),
      "directory-not-empty",
    ],
    ["a file whose handle it caches itself", testFile(), false, cachedBy(1n, 3), "reply"],
  ] as const;
  it.each(cases)("%s", (_, node, hasChildren, locks, expected) => {
    const request = { reference, handle, isPending: true };
    const context = {
      now,
      request,
      loaded: loadedFile(node, locks),
      readResult: hasChildren,
      newId,
    };
    expect(kindOf(deletePendingOperation.decide(context))).toBe(expected);
  });
});

describe("byte-range locks", () => {
  const range = (offset: bigint) => ({ offset, length: 10n, exclusive: true });
  const lock = (locks: LockState, offset: bigint) =>
    lockOperation.decide({
      now,
      request: { reference, handle, ranges: [range(offset)] },
      loaded: { locks },
      readResult: undefined,
      newId,
    });
  it.each([
    ["free bytes", lock(testLocks([own]), 0n), "reply"],
    ["bytes that another handle has locked", lock(lockedBy(2n, true), 95n), "lock-not-granted"],
    ["bytes that another client caches for writing", lock(cachedBy(2n, 5), 0n), "wait"],
  ])("%s", (_, decision, expected) => {
    expect(kindOf(decision)).toBe(expected);
  });

  it("are not in the state that is stored while the request waits", () => {
    const { effects = [] } = lock(cachedBy(2n, 5), 0n);
    expect(effects).toMatchObject([{ record: { ranges: [] } }]);
  });

  it("stay unlocked if a later range of the list is not locked", () => {
    const decision = unlockOperation.decide({
      now,
      request: { reference, handle, ranges: [rangeLock, { offset: 500n, length: 1n }] },
      loaded: { locks: lockedBy(1n, true) },
      readResult: undefined,
      newId,
    });
    expect(decision).toMatchObject({
      fault: "range-not-locked",
      effects: [{ record: { ranges: [] } }],
    });
  });
});
