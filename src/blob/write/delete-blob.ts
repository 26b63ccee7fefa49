import { put, remove, type Effect } from "../../core/effects.ts";
import { invalidHeader } from "../../core/faults.ts";
import { noBody } from "../../core/operation.ts";
import { header, oneOf } from "../../core/params.ts";
import { fail } from "../../core/result.ts";
import type { RecordView } from "../../core/view.ts";
import {
  generations,
  uploads,
  type BlobKey,
  type BlobRecord,
  type GenerationKey,
} from "../records.ts";
import { operation } from "../resources.ts";
import { anyGeneration } from "../shared/generation.ts";
import { blobKey, dropUpload, keepPrevious, retentionDays } from "../shared/succession.ts";
import type { Succession } from "../shared/succession.ts";

interface Snapshot {
  readonly key: GenerationKey;
  readonly record: BlobRecord;
}

/** The snapshots that a plain delete must not orphan, oldest first. */
async function liveSnapshots(view: RecordView, key: BlobKey): Promise<readonly Snapshot[]> {
  const found: Snapshot[] = [];
  const bounds = generations.range([key.container, key.name]);
  for await (const batch of view.scan(generations, bounds)) {
    for (const { record } of batch) {
      if (record.snapshot === undefined || record.deleted !== undefined) continue;
      found.push({ key: { ...key, at: record.snapshot, kind: "snapshot" }, record });
    }
  }
  return found;
}

/** learn.microsoft.com/rest/api/storageservices/delete-blob */
export const deleteBlob = operation({
  name: "Delete Blob",
  ids: ["Blob_Delete"],
  route: { method: "DELETE", resource: "blob" },
  since: "2009-09-19",
  params: {
    snapshots: header("x-ms-delete-snapshots", oneOf("include", "only")),
    generation: anyGeneration,
  },
  body: noBody,
  permission: { letters: "d", resourceType: "o" },
  target: "optional",
  conditions: "write",
  lease: "match-if-leased",
  etag: "none",
  effect: "writes",
  success: { status: 202, headers: ["x-ms-delete-type-permanent"] },
  reads: async (view, { scope, address }) => {
    const key = blobKey({ scope, address });
    const isBase = address.snapshot === undefined && address.versionId === undefined;
    if (!isBase) return { upload: undefined, snapshots: [] };
    return { upload: await view.get(uploads, key), snapshots: await liveSnapshots(view, key) };
  },
  decide: (context) => {
    const { target, address, input, seen, features, scope } = context;
    const key = blobKey(context);
    if (address.snapshot !== undefined || address.versionId !== undefined) {
      if (target === undefined) return fail("BlobNotFound");
      if (input.snapshots !== undefined) {
        return invalidHeader("x-ms-delete-snapshots", input.snapshots);
      }
      return deleteGeneration(context, target);
    }
    if (target === undefined && seen.upload === undefined) return fail("BlobNotFound");
    if (seen.snapshots.length > 0 && input.snapshots === undefined) return fail("SnapshotsPresent");
    const buried = seen.snapshots.flatMap((snapshot) => bury(context, snapshot));
    const kept = features.versioning || retentionDays(scope.account) !== undefined;
    const headers = { "x-ms-delete-type-permanent": String(!kept) };
    if (input.snapshots === "only") return { effects: buried, headers };
    const effects = [...buried, ...dropUpload(key, seen.upload)];
    if (target === undefined) return { effects, headers };
    return { remove: true, effects: [...effects, ...keepDeleted(context)], headers };
  },
});

/** A deleted blob becomes an earlier version, or waits to be undeleted, or is gone. */
function keepDeleted(context: Succession): readonly Effect[] {
  const { features, target, now, scope } = context;
  if (target === undefined) return [];
  if (features.versioning || target.versionId !== undefined) return keepPrevious(context);
  const days = retentionDays(scope.account);
  if (days === undefined) return [];
  const record = { ...target, lease: undefined, deleted: { at: now, retentionDays: days } };
  return [put(generations, { ...blobKey(context), at: target.etag, kind: "deleted" }, record)];
}

function bury({ scope, now }: Succession, { key, record }: Snapshot): readonly Effect[] {
  const days = retentionDays(scope.account);
  if (days === undefined) return [remove(generations, key)];
  return [put(generations, key, { ...record, deleted: { at: now, retentionDays: days } })];
}

/** Just the snapshot or version that the address names. */
function deleteGeneration(context: Succession, target: BlobRecord) {
  const { address } = context;
  if (address.versionId !== undefined && target.superseded !== true) {
    return fail("OperationNotAllowedOnRootBlob");
  }
  const at = address.snapshot ?? address.versionId ?? 0n;
  const kind = address.snapshot === undefined ? "version" : "snapshot";
  const key = { ...blobKey(context), at, kind } as const;
  const permanent = kind === "version" || retentionDays(context.scope.account) === undefined;
  return {
    effects: bury(context, { key, record: target }),
    headers: { "x-ms-delete-type-permanent": String(permanent) },
  };
}
