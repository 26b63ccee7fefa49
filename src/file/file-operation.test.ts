import { describe, expect, it } from "vitest";
import type { AnyDecisionContext } from "../operation/operation.ts";
import { deleteDirectory } from "./directory/directories.ts";
import type { FileOperation } from "./file-operation.ts";
import { Right } from "./locks/access.ts";
import { noLocks, type LockState } from "./locks/lock-state.ts";
import { deleteFile } from "./node/delete-file.ts";
import { getFile } from "./node/get-file.ts";
import { setFileProperties } from "./node/set-file-properties.ts";
import { putRange } from "./range/put-range.ts";
import type { NodeRecord } from "./records.ts";
import {
  contentOf,
  testDirectory,
  testFile,
  testLocks,
  testOpen,
  testShare,
} from "../../tests/harness/file-decisions.ts";

const now = 100n;
const quota = 1024n ** 3n;
const range = { from: 100, length: 10 };

interface Given {
  readonly target?: NodeRecord;
  readonly locks?: LockState | undefined;
  readonly input?: object;
  readonly readResult?: unknown;
}

/** The decision of an operation as its execution calls it, locks included. */
function decide(operation: FileOperation, given: Given) {
  const { target = testFile({ content: contentOf(1000) }), locks, input = {}, readResult } = given;
  const key = { share: testShare.id, parent: 2n, folded: "FILE" };
  const context: Partial<AnyDecisionContext> = {
    now,
    version: "2026-02-06",
    newETag: 200n,
    address: { resource: "file" },
    scope: { share: testShare, key, locks, hardLink: undefined, snapshot: undefined },
    target,
    input,
    readResult,
    received: { length: range.length, pieces: [] },
  };
  const decision = operation.decide(context as AnyDecisionContext);
  if ("fault" in decision) return decision.fault.code;
  return "wait" in decision ? "wait" : "reply";
}

const open = (more: Parameters<typeof testOpen>[0] = {}) => testLocks([testOpen(more)]);
const pending = testLocks([testOpen()], { deletePending: true });
const cached = (held: number) =>
  testLocks([testOpen({ cacheKey: "lease" })], { caches: [{ key: "lease", held, epoch: 1 }] });
const locked = testLocks([testOpen()], {
  ranges: [{ open: 1n, offset: 105n, length: 1n, exclusive: true }],
});

describe("Delete File", () => {
  it.each<readonly [string, Given, string]>([
    ["a file that is not open", {}, "reply"],
    ["a file without handles", { locks: noLocks }, "reply"],
    ["an open file", { locks: open() }, "SharingViolation"],
    ["a delete-pending file", { locks: pending }, "DeletePending"],
    ["a file whose handle is cached", { locks: cached(3) }, "wait"],
    ["a read-only file", { target: testFile({ attributes: 1 }) }, "ReadOnlyAttribute"],
  ])("%s", (_, given, expected) => {
    expect(decide(deleteFile, given)).toBe(expected);
  });
});

describe("Delete Directory", () => {
  const target = testDirectory();
  it.each<readonly [string, Given, string]>([
    ["an empty one", { target, readResult: false }, "reply"],
    ["one that is not empty", { target, readResult: true }, "DirectoryNotEmpty"],
    ["an open one", { target, readResult: false, locks: open() }, "SharingViolation"],
    ["the root", { target: testDirectory({ id: 0n }), readResult: true }, "InvalidResourceName"],
  ])("%s", (_, given, expected) => {
    expect(decide(deleteDirectory, given)).toBe(expected);
  });
});

describe("Put Range", () => {
  const free = { input: { range }, readResult: 0 };
  const beyond = { ...free, input: { range: { from: 995, length: 10 } } };
  it.each<readonly [string, Given, string]>([
    ["free bytes", free, "reply"],
    ["beside a client that shares writing", { ...free, locks: open() }, "reply"],
    ["beside a client that does not", { ...free, locks: open({ share: 1 }) }, "SharingViolation"],
    ["locked bytes", { ...free, locks: locked }, "FileLockConflict"],
    ["bytes cached for writing", { ...free, locks: cached(5) }, "wait"],
    ["behind the end of the file", beyond, "InvalidRange"],
    ["a read-only file", { ...free, target: testFile({ attributes: 1 }) }, "ReadOnlyAttribute"],
  ])("%s", (_, given, expected) => {
    expect(decide(putRange, given)).toBe(expected);
  });
});

describe("Set File Properties", () => {
  const longer = (used: bigint) => ({
    target: testFile({ content: contentOf(1000), permissionKey: "1*1" }),
    input: { length: 1010, smb: { posix: {} } },
    readResult: { used, cutOff: 0 },
  });
  it.each<readonly [string, Given, string]>([
    ["a longer file", longer(quota - 10n), "reply"],
    ["more than the quota", longer(quota - 9n), "ShareSizeLimitReached"],
    [
      "a client that does not share",
      { ...longer(0n), locks: open({ share: 1 }) },
      "SharingViolation",
    ],
  ])("%s", (_, given, expected) => {
    expect(decide(setFileProperties, given)).toBe(expected);
  });
});

describe("Get File", () => {
  const input = { range: { first: 100, last: 109 } };
  it.each<readonly [string, Given, string]>([
    ["beside a reader", { input, locks: open({ access: Right.readData }) }, "reply"],
    ["beside a writer that shares", { input, locks: open({ access: Right.writeData }) }, "reply"],
    [
      "beside a client that shares nothing",
      { input, locks: open({ share: 0 }) },
      "SharingViolation",
    ],
    ["locked bytes", { input, locks: locked }, "FileLockConflict"],
    ["before locked bytes", { input: { range: { first: 0, last: 9 } }, locks: locked }, "reply"],
    ["bytes cached for writing", { input, locks: cached(7) }, "wait"],
    ["bytes cached for reading", { input, locks: cached(1) }, "reply"],
  ])("%s", (_, given, expected) => {
    expect(decide(getFile, given)).toBe(expected);
  });
});
