import { describe, expect, it } from "vitest";
import type { Effect } from "../operation/effects.ts";
import { decideOn, testNow } from "../../tests/harness/decisions.ts";
import { deleteAnyPath } from "./dfs/names/delete-path.ts";
import type { BlobRecord } from "./records.ts";
import {
  blob,
  blobState,
  generation,
  leaseA,
  leases,
  type BlobStateOptions,
} from "../../tests/harness/blob-decisions.ts";
import { deleteBlob, deleteBlobVersion } from "./write/delete-blob.ts";
import { undeleteBlob } from "./write/undelete-blob.ts";

const snapshot = generation("snapshot", 50);
const version = generation("version", 60, { superseded: true });
const deletion = { at: testNow - 1000n, retentionDays: 7 };

/** What becomes of each generation: `put` (kept, possibly soft-deleted) or `remove`. */
function changes(effects: readonly Effect[] | undefined): string[] {
  return (effects ?? []).flatMap((effect) => {
    if (effect.effect !== "put" && effect.effect !== "remove") return [];
    const { kind } = effect.key as { readonly kind: string };
    if (effect.effect === "remove") return [`remove ${kind}`];
    const isDeleted = (effect.record as BlobRecord).deleted !== undefined;
    return [`${isDeleted ? "soft-delete" : "put"} ${kind}`];
  });
}

interface Row extends BlobStateOptions {
  readonly case: string;
  readonly target?: BlobRecord | undefined;
  readonly generations?: readonly object[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly expected: string | readonly string[];
}

const include = { "x-ms-delete-snapshots": "include" };
const only = { "x-ms-delete-snapshots": "only" };
const leased = { ...blob, lease: leases.leased };

/** learn.microsoft.com/rest/api/storageservices/delete-blob: the code, or whether the blob is
 *  removed and what becomes of snapshots and versions. */
const rows: readonly Row[] = [
  { case: "an absent blob", target: undefined, expected: "BlobNotFound" },
  { case: "a blob", target: blob, expected: ["remove"] },
  {
    case: "a blob with snapshots",
    target: blob,
    generations: [snapshot],
    expected: "SnapshotsPresent",
  },
  {
    case: "a blob, including snapshots",
    target: blob,
    generations: [snapshot],
    headers: include,
    expected: ["remove", "remove snapshot"],
  },
  {
    case: "only the snapshots",
    target: blob,
    generations: [snapshot],
    headers: only,
    expected: ["remove snapshot"],
  },
  { case: "a blob with versions", target: blob, generations: [version], expected: ["remove"] },
  {
    case: "a blob with soft delete",
    target: blob,
    softDelete: true,
    expected: ["remove", "soft-delete deleted"],
  },
  {
    case: "a blob and its snapshots with soft delete",
    target: blob,
    generations: [snapshot],
    headers: include,
    softDelete: true,
    expected: ["remove", "soft-delete deleted", "soft-delete snapshot"],
  },
  {
    case: "a blob with versioning",
    target: blob,
    versioning: true,
    expected: ["remove", "put version"],
  },
  { case: "a leased blob", target: leased, expected: "LeaseIdMissing" },
  {
    case: "a leased blob with its id",
    target: leased,
    headers: { "x-ms-lease-id": leaseA },
    expected: ["remove"],
  },
  {
    case: "a blob with a broken lease",
    target: { ...blob, lease: leases.broken },
    expected: ["remove"],
  },
  {
    case: "a blob with a legal hold",
    target: { ...blob, legalHold: true },
    expected: "BlobImmutableDueToLegalHold",
  },
  {
    case: "a blob whose snapshot has a legal hold",
    target: blob,
    generations: [generation("snapshot", 50, { legalHold: true })],
    headers: include,
    expected: "BlobImmutableDueToLegalHold",
  },
];

describe("Delete Blob", () => {
  it.each(rows)("$case", ({ target, generations = [], headers = {}, expected, ...options }) => {
    const readResult = { upload: undefined, generations };
    const state = blobState(target, { ...options, readResult });
    const decision = decideOn(deleteBlob, state, { headers });
    if (typeof decision === "string") {
      expect(decision).toBe(expected);
      return;
    }
    const removed = decision.remove === true ? ["remove"] : [];
    const all = [...removed, ...changes(decision.preserve), ...changes(decision.effects)];
    expect(all).toEqual(expected);
  });

  /** Recorded with versioning: `only` is permanent. */
  it.each<[string, Omit<Row, "case" | "expected">, string]>([
    ["true for a blob", {}, "true"],
    ["false with soft delete", { softDelete: true }, "false"],
    ["false with versioning", { versioning: true }, "false"],
    [
      "false for a blob with a version id after versioning was disabled",
      { target: { ...blob, versionId: 5n } },
      "false",
    ],
    ["true for snapshots with versioning", { versioning: true, headers: only }, "true"],
    ["false for snapshots with soft delete", { softDelete: true, headers: only }, "false"],
  ])("returns x-ms-delete-type-permanent: %s", (_case, row, expected) => {
    const { target = blob, headers = {}, ...options } = row;
    const generations = headers === only ? [snapshot] : [];
    const readResult = { upload: undefined, generations };
    const decision = decideOn(deleteBlob, blobState(target, { ...options, readResult }), {
      headers,
    });
    expect(decision).toMatchObject({ headers: { "x-ms-delete-type-permanent": expected } });
  });

  it.each([
    ["true for a blob", {}, "true"],
    ["false with soft delete", { softDelete: true }, "false"],
    ["false with versioning", { versioning: true }, "false"],
    ["false for a blob with a version id", { target: { ...blob, versionId: 5n } }, "false"],
  ] as const)("of a path on a flat account returns permanent: %s", (_case, row, expected) => {
    const { target, ...options } = { target: blob, ...row };
    const below = { entries: [], next: undefined };
    const readResult = { upload: undefined, kept: [], isEmpty: true, below };
    const decision = decideOn(deleteAnyPath, blobState(target, { ...options, readResult }));
    expect(decision).toMatchObject({ headers: { "x-ms-delete-type-permanent": expected } });
  });

  it("deletes an earlier version, but not the current one", () => {
    const address = { versionId: version.key.at };
    const earlier = decideOn(deleteBlobVersion, blobState(version.record, { address }));
    expect(typeof earlier === "string" ? earlier : changes(earlier.effects)).toEqual([
      "remove version",
    ]);
    const current = decideOn(deleteBlobVersion, blobState(blob, { address }));
    expect(current).toBe("OperationNotAllowedOnRootBlob");
  });
});

describe("Undelete Blob", () => {
  const deleted = generation("deleted", 10, { deleted: deletion });
  const deletedSnapshot = generation("snapshot", 20, { deleted: deletion });
  const lapsed = generation("deleted", 10, { deleted: { at: 0n, retentionDays: 7 } });
  it.each([
    ["an absent blob", undefined, [], "BlobNotFound"],
    ["after the retention time", undefined, [lapsed], "BlobNotFound"],
    ["a deleted blob", undefined, [deleted], ["blob", "remove deleted"]],
    [
      "a deleted blob with a deleted snapshot",
      undefined,
      [deletedSnapshot, deleted],
      ["blob", "put snapshot", "remove deleted"],
    ],
    ["a deleted snapshot of a blob", blob, [deletedSnapshot], ["put snapshot"]],
    ["a deleted blob whose name is in use", blob, [deleted], ["put snapshot", "remove deleted"]],
    ["a blob that is not deleted", blob, [], []],
  ] as const)("%s", (_case, target, generations, expected) => {
    const decision = decideOn(
      undeleteBlob,
      blobState(target, { readResult: { kept: generations } }),
    );
    if (typeof decision === "string") {
      expect(decision).toBe(expected);
      return;
    }
    const restored = decision.put === undefined ? [] : ["blob"];
    expect([...restored, ...changes(decision.effects)]).toEqual(expected);
  });
});
