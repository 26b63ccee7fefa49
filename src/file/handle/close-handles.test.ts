import { describe, expect, it } from "vitest";
import { locks, nodes, rootId } from "../records.ts";
import {
  testDirectory,
  testFile,
  testLocks,
  testOpen,
  testShare,
} from "../../../tests/harness/file-decisions.ts";
import { closeHandles, type CloseHandlesRequest } from "./close-handles.ts";

const one = testOpen({ id: 1n });
const two = testOpen({ id: 2n });
const deleting = testOpen({ id: 1n, deleteOnClose: true });

const base = {
  share: testShare,
  node: testFile(),
  handles: new Set([1n]),
  hasChildren: false,
  changed: [],
  now: 5n,
};

/** The effects as `remove file-locks`, in order. */
function effectsOf({ effects }: { readonly effects: readonly object[] }) {
  return (effects as readonly { effect: string; table?: { name: string } }[])
    .filter(({ table }) => table?.name === nodes.name || table?.name === locks.name)
    .map(({ effect, table }) => `${effect} ${table?.name}`);
}

const keepsLocks = ["put file-locks"];
const dropsLocks = ["remove file-locks"];
const deletes = ["remove nodes", "remove file-locks"];

describe("closing handle 1", () => {
  const cases: readonly [
    string,
    Partial<CloseHandlesRequest>,
    boolean,
    boolean,
    readonly string[],
  ][] = [
    ["the last of a file", { locks: testLocks([one]) }, false, false, dropsLocks],
    ["one of two", { locks: testLocks([one, two]) }, false, false, keepsLocks],
    ["the last with delete-on-close", { locks: testLocks([deleting]) }, true, false, deletes],
    ["delete-on-close, one of two", { locks: testLocks([deleting, two]) }, false, true, keepsLocks],
    [
      "the last of a delete-pending file",
      { locks: testLocks([one], { deletePending: true }) },
      true,
      false,
      deletes,
    ],
    [
      "the last of a delete-pending directory that is not empty",
      {
        node: testDirectory(),
        hasChildren: true,
        locks: testLocks([one], { deletePending: true }),
      },
      false,
      false,
      dropsLocks,
    ],
    [
      "the last of the root directory",
      { node: testDirectory({ id: rootId }), locks: testLocks([deleting]) },
      false,
      false,
      dropsLocks,
    ],
    [
      "the last of a file whose share was deleted",
      { share: undefined, locks: testLocks([deleting]) },
      false,
      false,
      dropsLocks,
    ],
    ["a handle that was closed by force", { locks: testLocks([two]) }, false, false, keepsLocks],
  ];
  it.each(cases)("%s", (_, more, isGone, isPending, expected) => {
    const closed = closeHandles(
      { share: testShare.id, file: base.node.id },
      { ...base, locks: testLocks([one]), ...more },
    );
    expect([closed.isDeleted, closed.isPending]).toEqual([isGone, isPending]);
    expect(effectsOf(closed)).toEqual(expected);
  });

  it("breaks the handle caching of other clients if the file becomes delete-pending", () => {
    const caching = testOpen({ id: 2n, cacheKey: "lease" });
    const caches = [{ key: "lease", held: 3, epoch: 1 }];
    const state = testLocks([deleting, caching], { caches });
    const [put] = closeHandles(
      { share: testShare.id, file: base.node.id },
      { ...base, locks: state },
    ).effects;
    expect(put).toMatchObject({ record: { caches: [{ breaking: { to: 1, askedAt: 5n } }] } });
  });
});
