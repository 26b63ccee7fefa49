import { put, remove, type Effect } from "../../../operation/effects.ts";
import type { Ticks } from "../../../base/ticks.ts";
import type { RecordView } from "../../../operation/view.ts";
import { checkLease } from "../../../protocol/lease.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import { checkProtection } from "../../protection/protection.ts";
import { blobs, uploads, type BlobKey, type BlobRecord, type UploadRecord } from "../../records.ts";
import type { ContainerScope } from "../../resources.ts";
import {
  dropUpload,
  generationsOf,
  nextVersion,
  type Generation,
  type OverwriteContext,
} from "../../shared/overwrite.ts";
import type { DependentParent } from "../../shared/prefixes.ts";
import { hasFolderMark, prefixDirectory } from "../../tree/create-parents.ts";
import { isLiveSnapshot, preserveDeleted } from "../../write/delete-blob.ts";

/** Directories of flat accounts for Delete Path and Rename Path. There a directory is only a common
 *  prefix of blob names, so each of its blobs must be deleted or moved, in portions. */

/** A blob of a flat account whose name is below a directory, which is a prefix of its name. */
export interface FlatEntry {
  readonly key: BlobKey;
  readonly record: BlobRecord;
  readonly upload: UploadRecord | undefined;
  /** Snapshots, earlier versions and soft-deleted states of the blob. */
  readonly kept: readonly Generation[];
}

/** The entries of a directory that one request deletes or moves. */
export interface FlatEntries {
  readonly entries: readonly FlatEntry[];
  /** The name of the first entry that is left to the next request; undefined if none is. */
  readonly next: string | undefined;
}

/** Most blobs that one request deletes or moves, so that its transaction stays short; the client
 *  repeats the request with a continuation token. */
const portionBlobsMax = 256;

/** Reads the first entries of a directory. On flat accounts a directory is a common prefix of
 *  names: its entries are changed in portions, each in one transaction. A file has none. */
export async function readEntries(
  view: RecordView,
  { key: { container, name } }: ContainerScope,
  target: BlobRecord | undefined,
): Promise<FlatEntries> {
  if (target !== undefined && !hasFolderMark(target.metadata)) {
    return { entries: [], next: undefined };
  }
  const entries: FlatEntry[] = [];
  const bounds = { ...blobs.range([container], `${name}/`), limit: portionBlobsMax + 1 };
  for await (const batch of view.scan(blobs, bounds)) {
    for (const { key: bytes, record } of batch) {
      const key = { container, name: blobs.parts(bytes)[1] as string };
      if (entries.length === portionBlobsMax) return { entries, next: key.name };
      const upload = await view.get(uploads, key);
      entries.push({ key, record, upload, kept: await generationsOf(view, key) });
    }
  }
  return { entries, next: undefined };
}

/** The effects that delete blobs as Delete Blob does: leases, protection, snapshots and earlier
 *  versions are checked. */
export function deleteEntries(
  context: OverwriteContext,
  entries: readonly FlatEntry[],
): Result<readonly Effect[]> {
  const effects: Effect[] = [];
  for (const entry of entries) {
    const { key, record, upload, kept } = entry;
    const free = checkEntry(entry, context);
    if (!free.ok) return free;
    const own = { ...context, scope: { ...context.scope, key }, target: record };
    // The soft-deleted state or version is written before the blob is deleted: its content must not
    // be without a reference in between, or it would be freed.
    effects.push(...dropUpload(key, upload), ...preserveDeleted(own, kept), remove(blobs, key));
  }
  return ok(effects);
}

/** Gives a directory the blob that keeps it after the last path in it was removed. Hadoop expects
 *  that a directory stays until it is deleted itself. */
export function keepParent(
  context: OverwriteContext,
  parent: DependentParent | undefined,
): readonly Effect[] {
  if (parent === undefined) return [];
  const { key, upload } = parent;
  const record = { ...prefixDirectory(context.newETag), versionId: nextVersion(context) };
  return [...dropUpload(key, upload), put(blobs, key, record)];
}

/** Fails if a blob must not be deleted or moved: for a lease, a pending copy, snapshots, a legal
 *  hold or an immutability policy. */
export function checkEntry(
  { record, kept }: FlatEntry,
  { now }: { readonly now: Ticks },
): Result<void> {
  const leased = checkLease(record.lease, undefined, "match-if-leased", "blob", now);
  if (!leased.ok) return leased;
  if (record.copy?.status === "pending") return fail("PendingCopyOperation");
  if (kept.some(isLiveSnapshot)) return fail("SnapshotsPresent");
  return checkProtection(record, now);
}
