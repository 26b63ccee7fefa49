import { periodJob, put, reclaimOwned, remove, type Effect } from "../../operation/effects.ts";
import {
  blobs,
  uploads,
  isExpired,
  type BlobKey,
  type BlobRecord,
  type UploadRecord,
  type GenerationKey,
} from "../records.ts";
import { dropUpload, retentionDays, softDelete, type ExistingBlob } from "../shared/overwrite.ts";
import { splitPath } from "./find-path.ts";
import type { RecordView } from "../../operation/view.ts";
import { fileTimeStart, ticksMax, type Ticks } from "../../base/ticks.ts";
import type { ContainerScope } from "../resources.ts";

/** Moving and deleting paths of hierarchical accounts, for rename, delete and undelete. */

/** The move of a file or directory to another path, by a rename or an undelete. */
interface PathMove {
  readonly from: BlobKey;
  readonly to: BlobKey;
  readonly record: BlobRecord;
  /** Uncommitted blocks or appended data of the source. `replacedUpload` are those of the path it
   *  moves to. */
  readonly upload: UploadRecord | undefined;
  readonly replacedUpload: UploadRecord | undefined;
}

/** The effects that move a file or a directory: a constant number of keys, whatever is below it. A
 *  file or an empty directory at the new path is replaced; if soft delete keeps it, the caller adds
 *  the effects for that before. */
export function movePath(move: PathMove): readonly Effect[] {
  const { from, to, record, upload, replacedUpload } = move;
  if (from.container === to.container && from.name === to.name) return [];
  const { directory } = record;
  const added = put(blobs, to, record);
  const removed = remove(blobs, from);
  return [
    // The index of directories has one entry for an id, so the put of the new path must come last.
    // The content of a file must not be without a reference in between, so there the put comes
    // first.
    ...(directory === undefined ? [added, removed] : [removed, added]),
    ...dropUpload(to, replacedUpload),
    ...(upload === undefined
      ? []
      : [remove(uploads, from), put(uploads, to, upload), ...periodJob(uploads, to, upload)]),
    ...periodJob(blobs, to, record),
  ];
}

/** The stored job that removes, in bounded steps, the entries of a deleted directory. */
export function reclaimBelow({ directory }: BlobRecord): readonly Effect[] {
  return directory === undefined ? [] : [reclaimOwned("container", directory)];
}

interface PathDeletion extends Pick<ExistingBlob, "scope" | "address" | "target" | "newETag"> {
  readonly upload: UploadRecord | undefined;
}

/** The effects that delete a file, or a directory with everything below it, by changing a constant
 *  number of keys. With soft delete, a directory becomes one soft-deleted state, and its entries
 *  stay keyed by its id. */
export function deletePath(deletion: PathDeletion) {
  const { scope, address, target, newETag, upload } = deletion;
  const dropped = dropUpload(scope.key, upload);
  const days = retentionDays(scope.account);
  if (days === undefined) {
    const effects: readonly Effect[] = [...dropped, ...reclaimBelow(target)];
    const headers = { "x-ms-delete-type-permanent": "true" };
    return { remove: true as const, preserve: [], effects, headers };
  }
  const key = deletedPathKey(scope, address.blob, newETag);
  return {
    remove: true as const,
    preserve: softDelete(key, target, { at: newETag, retentionDays: days }),
    effects: dropped,
    headers: {
      "x-ms-delete-type-permanent": "false",
      "x-ms-deletion-id": formatDeletionId(newETag),
    },
  };
}

/** The key of a soft-deleted path: the container and the whole path at the time of the deletion.
 *  Renaming a parent directory later does not move it.
 *  learn.microsoft.com/azure/storage/blobs/soft-delete-blob-overview */
export function deletedPathKey(
  { container }: ContainerScope,
  path: string,
  at: Ticks,
): GenerationKey {
  return { container: container.id, name: splitPath(path).join("/"), at, kind: "deleted" };
}

/** Formats a deletion id: the time of the deletion as a Windows file time. It distinguishes
 *  soft-deleted states of one path. */
export function formatDeletionId(at: Ticks): string {
  return String(at - fileTimeStart);
}

/** Parses a deletion id, by which an undelete names a soft-deleted state, into ticks; undefined if
 *  the text is malformed. */
export function parseDeletionId(text: string): Ticks | undefined {
  if (!/^\d{1,18}$/.test(text)) return undefined;
  const at = BigInt(text) + fileTimeStart;
  return at <= ticksMax ? at : undefined;
}

/** Whether a directory has no entries that have not expired. The record of a root directory is
 *  stored under its own id and is not counted. */
export async function isDirectoryEmpty(view: RecordView, directory: bigint): Promise<boolean> {
  const bounds = { ...blobs.range([directory]), start: blobs.prefix([directory, afterRootName]) };
  for await (const batch of view.scan(blobs, bounds)) {
    if (batch.some(({ record }) => !isExpired(record, view.now))) return false;
  }
  return true;
}

/** The first name after the empty one, under which the root directory itself is stored. */
const afterRootName = "\u0000";
