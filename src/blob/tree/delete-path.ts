import { splitPath } from "../../namespace/paths.ts";
import type { Effect } from "../../operation/effects.ts";
import type { RecordView } from "../../operation/view.ts";
import { ticksMax, type Ticks } from "../../base/ticks.ts";
import { fileTimeStart } from "../../protocol/deleted-version.ts";
import { blobs, type BlobRecord, type GenerationKey, type UploadRecord } from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";
import { isExpired } from "../shared/expiry.ts";
import { dropUpload } from "../shared/overwrite.ts";
import { retentionDays, softDelete } from "../shared/soft-delete.ts";
import { reclaimBelow } from "./move-path.ts";

export interface PathDeletion {
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly target: BlobRecord;
  readonly newETag: Ticks;
  readonly upload: UploadRecord | undefined;
}

export const deletionHeaderNames = ["x-ms-delete-type-permanent", "x-ms-deletion-id"] as const;

/** Deletes a file or a directory with all that is below it: a constant number of keys. Where
 *  deletes can be undone, a directory is one deleted state, and its entries stay below its id. */
export function deletePath(deletion: PathDeletion) {
  const { scope, address, target, newETag, upload } = deletion;
  const dropped = dropUpload(scope.key, upload);
  const days = retentionDays(scope.account);
  if (days === undefined) {
    const effects: readonly Effect[] = [...dropped, ...reclaimBelow(target)];
    return { remove: true as const, effects, headers: { "x-ms-delete-type-permanent": "true" } };
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

/** Deleted paths are kept by the container and the whole path, as they were called: a directory
 *  that is renamed meanwhile does not take them along.
 *  learn.microsoft.com/azure/storage/blobs/soft-delete-blob-overview */
export function deletedPathKey(
  { container }: ContainerScope,
  path: string,
  at: Ticks,
): GenerationKey {
  return { container: container.id, name: splitPath(path).join("/"), at, kind: "deleted" };
}

/** What tells deleted states of one path apart: the time of the deletion as a Windows file time. */
export function formatDeletionId(at: Ticks): string {
  return String(at - fileTimeStart);
}

export function parseDeletionId(text: string): Ticks | undefined {
  if (!/^\d{1,18}$/.test(text)) return undefined;
  const at = BigInt(text) + fileTimeStart;
  return at <= ticksMax ? at : undefined;
}

/** Whether nothing is in a directory. The root directory is stored below its own id and does not
 *  count. */
export async function isDirectoryEmpty(view: RecordView, directory: bigint): Promise<boolean> {
  const bounds = { ...blobs.range([directory]), start: blobs.prefix([directory, afterRootName]) };
  for await (const batch of view.scan(blobs, bounds)) {
    if (batch.some(({ record }) => !isExpired(record, view.now))) return false;
  }
  return true;
}

/** The first name after the empty one. */
const afterRootName = "\u0000";
