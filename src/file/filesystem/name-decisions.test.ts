import { describe, expect, it } from "vitest";
import { Right } from "../locks/access.ts";
import { noLocks, type LockState } from "../locks/lock-state.ts";
import { rootId, type NodeRecord } from "../records.ts";
import {
  testDirectory,
  testFile,
  testLease,
  testLocks,
  testOpen,
  testShare,
} from "../../../tests/harness/file-decisions.ts";
import { openOperation, openSnapshotOperation, type FileOpenRequest } from "./open.ts";
import { renameOperation, type RenameDestination } from "./rename.ts";
import {
  cachedBy,
  handle,
  key,
  kindOf,
  loadedFile,
} from "../../../tests/harness/handle-decisions.ts";
import { newId, now, other, reference } from "../../../tests/harness/handle-decisions.ts";

describe("a rename", () => {
  const parent = testDirectory({ id: 2n });
  const target = testFile({ id: 4n, name: "target" });
  const free: RenameDestination = {
    resolved: { parent, key: { ...key, folded: "NEW" }, target: undefined, trail: [0n, 2n] },
    parentLocks: noLocks,
    targetLocks: noLocks,
    targetHasChildren: false,
    openBelow: [],
    previousParent: undefined,
  };
  const taken = (node: NodeRecord) => ({ ...free, resolved: { ...free.resolved, target: node } });
  const opened = (open = other) => testLocks([open]);
  const directory = testDirectory({ id: 3n });
  type Case = readonly [string, Parameters<typeof decide>[0], string];
  const decide = (given: {
    readonly node?: NodeRecord;
    readonly locks?: LockState;
    readonly replaces?: boolean;
    readonly target?: Partial<RenameDestination> | undefined;
  }) =>
    renameOperation.decide({
      now,
      request: { reference, handle, path: ["new"], replaces: given.replaces ?? false },
      loaded: loadedFile(given.node ?? testFile(), given.locks),
      readResult: "target" in given ? given.target && { ...free, ...given.target } : free,
      newId,
    });
  const cases: readonly Case[] = [
    ["to a free name", {}, "reply"],
    ["into a directory that does not exist", { target: undefined }, "path-not-found"],
    ["to a name that is taken", { target: taken(target) }, "name-collision"],
    ["over a file", { target: taken(target), replaces: true }, "reply"],
    [
      "over a read-only file",
      { target: taken({ ...target, attributes: 1 }), replaces: true },
      "access-denied",
    ],
    [
      "over a leased file",
      { target: taken({ ...target, lease: testLease }), replaces: true },
      "sharing-violation",
    ],
    [
      "over a file whose handles share deletion",
      { target: { ...taken(target), targetLocks: opened() }, replaces: true },
      "reply",
    ],
    [
      "over a file with a handle that does not share deletion",
      { target: { ...taken(target), targetLocks: opened({ ...other, share: 3 }) }, replaces: true },
      "access-denied",
    ],
    [
      "over a file with such a handle for attributes",
      {
        target: {
          ...taken(target),
          targetLocks: opened({ ...other, access: Right.readAttributes, share: 3 }),
        },
        replaces: true,
      },
      "access-denied",
    ],
    [
      "over a delete-pending file",
      {
        target: { ...taken(target), targetLocks: testLocks([other], { deletePending: true }) },
        replaces: true,
      },
      "access-denied",
    ],
    [
      "over a file whose handle is cached",
      { target: { ...taken(target), targetLocks: cachedBy(2n, 3) }, replaces: true },
      "wait",
    ],
    [
      "over a directory",
      { target: taken(testDirectory({ id: 4n })), replaces: true },
      "access-denied",
    ],
    [
      "of a directory over one that is not empty",
      {
        node: directory,
        target: { ...taken(testDirectory({ id: 4n })), targetHasChildren: true },
        replaces: true,
      },
      "directory-not-empty",
    ],
    [
      "of a directory into itself",
      { node: directory, target: { resolved: { ...free.resolved, trail: [0n, 3n] } } },
      "invalid-parameter",
    ],
    ["of the root", { node: testDirectory({ id: rootId }) }, "access-denied"],
    ["of a leased file", { node: testFile({ lease: testLease }) }, "sharing-violation"],
    [
      "into a delete-pending directory",
      { target: { parentLocks: testLocks([other], { deletePending: true }) } },
      "delete-pending",
    ],
    [
      "into a directory that is open for deletion",
      { target: { parentLocks: opened({ ...other, access: Right.delete }) } },
      "sharing-violation",
    ],
    [
      "of a directory with an open file below",
      { node: directory, target: { openBelow: [{ id: 9n, state: opened() }] } },
      "access-denied",
    ],
    [
      "of a directory with a cached handle below",
      { node: directory, target: { openBelow: [{ id: 9n, state: cachedBy(2n, 3) }] } },
      "wait",
    ],
    ["of a file whose handle another client caches", { locks: cachedBy(2n, 3) }, "wait"],
    ["of a file whose handle it caches itself", { locks: cachedBy(1n, 3) }, "reply"],
  ];
  it.each(cases)("%s", (_, given, expected) => {
    expect(kindOf(decide(given))).toBe(expected);
  });
});

describe("an open", () => {
  const parent = testDirectory({ id: 2n });
  const request: FileOpenRequest = {
    share: reference.share,
    path: ["file"],
    disposition: "open",
    wants: undefined,
    wantsMaximum: false,
    attributes: 0,
    sddl: undefined,
    open: testOpen({ id: 5n }),
    cache: undefined,
  };
  interface Given {
    readonly request?: Partial<FileOpenRequest>;
    readonly open?: Partial<FileOpenRequest["open"]>;
    readonly locks?: LockState;
  }
  const context = (target: NodeRecord | undefined, given: Given = {}) => ({
    now,
    request: { ...request, ...given.request, open: { ...request.open, ...given.open } },
    loaded: { share: testShare, resolved: { parent, key, target, trail: [0n, 2n] } },
    newId,
  });
  const open = (target: NodeRecord | undefined, given: Given = {}) =>
    openOperation.decide({
      ...context(target, given),
      readResult: { locks: given.locks ?? noLocks, inherited: undefined },
    });
  const past = (target: NodeRecord | undefined, given: Given = {}) =>
    openSnapshotOperation.decide({ ...context(target, given), readResult: undefined });
  const file = testFile();
  const directory = testDirectory();
  const readOnly = testFile({ attributes: 1 });
  const hidden = testFile({ attributes: 2 });
  const writes = { open: { access: Right.writeData } };
  const pending = testLocks([other], { deletePending: true });
  const by = (disposition: FileOpenRequest["disposition"]) => ({ request: { disposition } });
  it.each([
    ["of a file", open(file), "reply"],
    ["of a missing file", open(undefined), "name-not-found"],
    ["that overwrites a missing file", open(undefined, by("overwrite")), "name-not-found"],
    ["that creates", open(undefined, by("create")), "reply"],
    ["that creates what exists", open(file, by("create")), "name-collision"],
    ["or create of what exists", open(file, by("openIf")), "reply"],
    ["that overwrites", open(file, by("overwriteIf")), "reply"],
    ["that overwrites a directory", open(directory, by("overwriteIf")), "name-collision"],
    ["that overwrites a read-only file", open(readOnly, by("overwrite")), "access-denied"],
    ["that overwrites a hidden file", open(hidden, by("overwrite")), "access-denied"],
    ["of a file as a directory", open(file, { request: { wants: "directory" } }), "not-directory"],
    ["of a directory as a file", open(directory, { request: { wants: "file" } }), "is-directory"],
    ["for writing to a read-only file", open(readOnly, writes), "access-denied"],
    [
      "for writing to a leased file",
      open(testFile({ lease: testLease }), writes),
      "sharing-violation",
    ],
    ["for reading a leased file", open(testFile({ lease: testLease })), "reply"],
    [
      "that overwrites a leased file",
      open(testFile({ lease: testLease }), by("overwrite")),
      "sharing-violation",
    ],
    [
      "with delete-on-close, read-only",
      open(readOnly, { open: { deleteOnClose: true } }),
      "cannot-delete",
    ],
    ["of a delete-pending file", open(file, { locks: pending }), "delete-pending"],
    [
      "that creates in a delete-pending directory",
      open(undefined, { ...by("create"), locks: pending }),
      "delete-pending",
    ],
    [
      "beside one that does not share",
      open(file, { locks: testLocks([{ ...other, share: 0 }]) }),
      "sharing-violation",
    ],
    [
      "of attributes beside one that does not share",
      open(file, {
        locks: testLocks([{ ...other, share: 0 }]),
        open: { access: Right.readAttributes },
      }),
      "reply",
    ],
    ["of a file cached for writing", open(file, { locks: cachedBy(2n, 7) }), "wait"],
    ["in a snapshot", past(file), "reply"],
    ["in a snapshot, missing", past(undefined), "name-not-found"],
    ["that creates in a snapshot", past(undefined, by("openIf")), "read-only-snapshot"],
    ["that overwrites in a snapshot", past(file, by("overwrite")), "read-only-snapshot"],
    ["for writing in a snapshot", past(file, writes), "access-denied"],
  ] as const)("%s", (_, decision, expected) => {
    expect(kindOf(decision)).toBe(expected);
  });
});
