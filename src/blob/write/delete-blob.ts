import { remove, type Effect } from "../../operation/effects.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { header, oneOf } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { storedUpload } from "../block/read-blocks.ts";
import { generations, type BlobRecord, type UploadRecord } from "../records.ts";
import { isHierarchical, operation } from "../resources.ts";
import { deletePath, isDirectoryEmpty } from "../tree/move-path.ts";
import { checkProtection } from "../protection/protection.ts";
import { checkTierConditions, tierConditions } from "../tier/rehydration.ts";
import {
  becomesVersion,
  blobKey,
  dropUpload,
  generationsOf,
  isRestorable,
  preservePrevious,
  retentionDays,
  softDelete,
  type Generation,
  type OverwriteContext,
} from "../shared/overwrite.ts";

/** Delete Blob in its three forms: a blob or snapshot, an earlier version, and the final removal of
 *  what is soft-deleted. */

/** What Delete Blob reads besides the target. Deleting one snapshot needs none of it, so it is then
 *  empty. */
interface DeletionReads {
  readonly upload: UploadRecord | undefined;
  readonly generations: readonly Generation[];
  /** Whether the target is a directory with entries. */
  readonly hasEntries?: boolean;
}

const snapshotsHeader = header("x-ms-delete-snapshots", oneOf("include", "only"));

/** `x-ms-delete-snapshots` applies to all snapshots of a blob, so it is rejected if the address
 *  names one snapshot or version. */
const deleteSnapshots: typeof snapshotsHeader = {
  sources: snapshotsHeader.sources,
  parse: (reader) => {
    const parsed = snapshotsHeader.parse(reader);
    if (!parsed.ok || parsed.value === undefined) return parsed;
    for (const name of ["snapshot", "versionid"]) {
      const text = reader.query(name);
      if (text) return invalidQuery(name, text);
    }
    return parsed;
  },
};

/** What the declarations of the three forms of Delete Blob have in common. */
const deletion = {
  name: "Delete Blob",
  params: { snapshots: deleteSnapshots, tierConditions },
  conditions: "write",
  lease: "match-if-leased",
  etag: "none",
  isDeletion: true,
  mayBeBatched: true,
  policy: {
    content: "remove",
    generations: "any",
    pendingCopy: "reject",
    clientKey: "none",
    event: "DeleteBlob",
  },
} as const;

/** Deletes a blob, with or without its snapshots, or only the snapshot that the address names.
 *  learn.microsoft.com/rest/api/storageservices/delete-blob */
export const deleteBlob = operation({
  ...deletion,
  ids: ["Blob_Delete"],
  route: { method: "DELETE", resource: "blob" },
  permission: { letters: "d", resourceType: "o" },
  target: "optional",
  status: 202,
  reads: async (view, { scope, address, target }): Promise<DeletionReads> => {
    if (address.snapshot !== undefined) return { upload: undefined, generations: [] };
    const key = blobKey({ scope });
    const upload = await storedUpload(view, scope);
    const found = { upload, generations: await generationsOf(view, key) };
    if (target?.directory === undefined) return found;
    return { ...found, hasEntries: !(await isDirectoryEmpty(view, target.directory)) };
  },
  decide: (context) => {
    const { target, address, input, readResult, scope } = context;
    if (address.snapshot !== undefined) {
      return target === undefined ? fail("BlobNotFound") : deleteAddressed(context, target);
    }
    const key = blobKey(context);
    if (target?.directory !== undefined) {
      if (input.snapshots !== undefined) return fail("OperationNotSupportedOnDirectory");
      if (readResult.hasEntries === true) return fail("DirectoryIsNotEmpty");
    }
    const snapshots = readResult.generations.filter(isLiveSnapshot);
    // If blob and snapshots are absent, uncommitted blocks may still exist; they are then deleted.
    // They have no ETag, so a request with a condition does not concern them, unless it has their
    // lease.
    const isAbsent = target === undefined && snapshots.length === 0;
    const isLeased = readResult.upload?.lease !== undefined;
    const hasBlocks = readResult.upload !== undefined && (context.isUnconditional || isLeased);
    if (isAbsent && !hasBlocks) return fail("BlobNotFound");
    if (snapshots.length > 0 && input.snapshots === undefined) return fail("SnapshotsPresent");
    for (const { record } of snapshots) {
      const check = checkProtection(record, context.now);
      if (!check.ok) return check;
    }
    const snapshotDeletions = snapshots.flatMap((snapshot) => deleteGeneration(context, snapshot));
    const isSoft = retentionDays(scope.account) !== undefined;
    if (input.snapshots === "only") {
      // Recorded from Azure: versioning keeps deleted blobs, but not deleted snapshots.
      return { effects: snapshotDeletions, headers: deleteType(isSoft) };
    }
    const headers = deleteType(isSoft || becomesVersion(context));
    const effects = [...snapshotDeletions, ...dropUpload(key, readResult.upload)];
    if (target === undefined) return { effects, headers };
    if (isHierarchical(scope)) {
      // `deletePath` removes the upload itself, so `effects` is not used.
      const deleted = deletePath({ ...context, target, upload: readResult.upload });
      return { ...deleted, effects: [...snapshotDeletions, ...deleted.effects] };
    }
    const preserve = preserveDeleted(context, readResult.generations);
    return { remove: true, preserve, effects, headers };
  },
});

/** Deletes an earlier version. It has its own permission letter (`x`), because no later write can
 *  restore a deleted version. learn.microsoft.com/rest/api/storageservices/delete-blob */
export const deleteBlobVersion = operation({
  ...deletion,
  ids: [],
  route: { method: "DELETE", resource: "blob", query: { versionid: true } },
  since: "2019-12-12",
  permission: { letters: "x", resourceType: "o" },
  target: "must-exist",
  status: 202,
  decide: (context) => {
    const { target } = context;
    return target.superseded === true
      ? deleteAddressed(context, target)
      : fail("OperationNotAllowedOnRootBlob");
  },
});

/** Removes a soft-deleted snapshot or version before its retention time ends, if the account allows
 *  it. learn.microsoft.com/rest/api/storageservices/delete-blob */
export const deleteBlobPermanently = operation({
  ...deletion,
  ids: [],
  route: { method: "DELETE", resource: "blob", query: { deletetype: "permanent" } },
  since: "2020-02-10",
  permission: { letters: "y", resourceType: "o" },
  target: "optional",
  lease: "match-if-given",
  status: 202,
  reads: (view, { scope }) => generationsOf(view, blobKey({ scope })),
  decide: ({ address, input, readResult, scope, now, target }) => {
    const policy = scope.account.properties.blob?.deleteRetention;
    if (policy?.allowPermanentDelete !== true) return fail("PermanentDeleteIsOff");
    const at = address.snapshot ?? address.versionId;
    const found = readResult.find(({ key, record }) => key.at === at && isRestorable(record, now));
    if (found === undefined) {
      // The second code is for a state that exists but is not soft-deleted.
      return fail(target === undefined ? "BlobNotFound" : "PermanentDeleteNotEnabled");
    }
    const verdict = checkTierConditions(input.tierConditions, found.record);
    if (!verdict.ok) return verdict;
    return { effects: [remove(generations, found.key)], headers: deleteType(false) };
  },
});

/** The header that states whether the deleted state can be restored. */
function deleteType(isRecoverable: boolean) {
  return { "x-ms-delete-type-permanent": String(!isRecoverable) };
}

export function isLiveSnapshot({ key, record }: Generation): boolean {
  return key.kind === "snapshot" && record.deleted === undefined;
}

/** The effects that keep the state of a deleted blob: as an earlier version, as a soft-deleted
 *  state, or not at all. A soft-deleted state of the same name from an earlier deletion becomes a
 *  soft-deleted snapshot. */
export function preserveDeleted(
  context: OverwriteContext,
  existing: readonly Generation[],
): readonly Effect[] {
  const { target, now, newETag, scope } = context;
  if (target === undefined) return [];
  if (becomesVersion(context)) return preservePrevious(context);
  const days = retentionDays(scope.account);
  if (days === undefined) return [];
  // The new ETag value is later than the time of every snapshot, so the soft-deleted state is
  // listed after them, as the blob was.
  const key = { ...blobKey(context), at: newETag, kind: "deleted" as const };
  const earlier = existing.filter(({ key: { kind } }) => kind === "deleted").flatMap(asSnapshot);
  return [...earlier, ...softDelete(key, target, { at: now, retentionDays: days })];
}

function asSnapshot({ key, record }: Generation): readonly Effect[] {
  const { deleted } = record;
  if (deleted === undefined) return [];
  const snapshot = { ...record, snapshot: deleted.at };
  const moved = softDelete({ ...key, at: deleted.at, kind: "snapshot" }, snapshot, deleted);
  return [...moved, remove(generations, key)];
}

function deleteGeneration(
  { scope, now }: OverwriteContext,
  { key, record }: Generation,
): readonly Effect[] {
  const days = retentionDays(scope.account);
  if (days === undefined) return [remove(generations, key)];
  return softDelete(key, record, { at: now, retentionDays: days });
}

/** The reply that removes or soft-deletes the snapshot or version that the address names. */
function deleteAddressed(context: OverwriteContext, target: BlobRecord) {
  const { address } = context;
  // `0n` is never used: the address names a snapshot or a version.
  const at = address.snapshot ?? address.versionId ?? 0n;
  const kind = address.snapshot === undefined ? "version" : "snapshot";
  const key = { ...blobKey(context), at, kind } as const;
  return {
    effects: deleteGeneration(context, { key, record: target }),
    headers: deleteType(retentionDays(context.scope.account) !== undefined),
  };
}
