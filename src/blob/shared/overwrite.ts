import { put, periodJob, reclaimOwned, remove, type Effect } from "../../operation/effects.ts";
import {
  generationKinds,
  generations,
  blobs,
  isExpired,
  retentionEnds,
  uploads,
  type BlobRecord,
  type BlobKey,
  type Deletion,
  type GenerationKey,
  type UploadRecord,
} from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";
import { formatIso } from "../../base/dates.ts";
import type { Features } from "../../protocol/features.ts";
import type { Lease } from "../../protocol/lease.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { UploadLookup } from "../block/read-blocks.ts";
import type { AccountRecord } from "../../account/account-record.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Reply } from "../../operation/reply.ts";
import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";

/** How the states of a blob are found, and what stays of a blob that is replaced or deleted:
 *  versions, soft-deleted states, leases and uploads (uncommitted blocks). */

/** The fields of a reply that write the record that the address names: the current blob as the
 *  target's record, a snapshot or version by an effect. For changes that do not concern the
 *  content: tier, tags, immutability. */
export function putAddressed(
  { scope, address, target }: Pick<ExistingBlob, "scope" | "address" | "target">,
  record: BlobRecord,
): Pick<Reply<BlobRecord>, "put" | "effects"> {
  const { key } = scope;
  if (address.snapshot !== undefined) {
    const kind = "snapshot" as const;
    return { effects: [put(generations, { ...key, at: address.snapshot, kind }, record)] };
  }
  if (address.versionId !== undefined && target.superseded === true) {
    const kind = "version" as const;
    return { effects: [put(generations, { ...key, at: address.versionId, kind }, record)] };
  }
  return { put: record };
}

/** The part of a decision context on which replacing or deleting a blob depends. */
export interface OverwriteContext {
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly target: BlobRecord | undefined;
  readonly features: Features;
  readonly now: Ticks;
  readonly newETag: Ticks;
}

/** Like `OverwriteContext`, for an operation whose target must exist. */
export interface ExistingBlob extends OverwriteContext {
  readonly target: BlobRecord;
}

export function blobKey({ scope }: Pick<OverwriteContext, "scope">): BlobKey {
  return scope.key;
}

/** The lease of the addressed blob, or of its uncommitted blocks if there is no blob. A blob that
 *  is created in its place keeps the lease. */
export function heldLease({
  target,
  scope,
}: Pick<OverwriteContext, "target" | "scope">): Lease | undefined {
  return target === undefined ? scope.upload?.live?.lease : target.lease;
}

/** Whether the current state of a blob becomes an earlier version when it is replaced or deleted. A
 *  state with a version id does, even if versioning was disabled after it was written. */
export function becomesVersion({
  target,
  features,
}: Pick<OverwriteContext, "target" | "features">): boolean {
  return target !== undefined && (features.versioning || target.versionId !== undefined);
}

/** The effects that keep the state that a write replaces: as an earlier version if the account has
 *  versioning, otherwise as a soft-deleted snapshot if it has soft delete, otherwise not at all. */
export function preservePrevious(context: OverwriteContext): readonly Effect[] {
  const { target, newETag, now, scope } = context;
  // As in Azure, soft delete of a hierarchical account does not protect against overwrites.
  if (target === undefined || scope.account.hierarchicalNamespace === true) return [];
  const key = blobKey(context);
  const previous = { ...target, lease: undefined };
  if (becomesVersion(context)) {
    const at = target.versionId ?? target.etag;
    const version = { ...previous, versionId: at, superseded: true as const };
    return [put(generations, { ...key, at, kind: "version" }, version)];
  }
  const days = retentionDays(scope.account);
  if (days === undefined) return [];
  const deleted = { at: now, retentionDays: days };
  const kept = { ...previous, snapshot: newETag };
  return softDelete({ ...key, at: newETag, kind: "snapshot" }, kept, deleted);
}

/** The version id of the state that a write creates; undefined without versioning. */
export function nextVersion({ features, newETag }: OverwriteContext): Ticks | undefined {
  return features.versioning ? newETag : undefined;
}

/** The value of `x-ms-version-id`; undefined without versioning. */
export function versionHeader(versionId: Ticks | undefined): string | undefined {
  return versionId === undefined ? undefined : formatIso(versionId);
}

const noEffects: readonly Effect[] = [];

/** Whether the table `blocks` may have records of the upload: not if all its data are small Data
 *  Lake appends in the upload record. */
export function hasBlocks(upload: UploadRecord): boolean {
  return upload.inline === undefined || upload.hasBlocks === true;
}

/** The effects that remove the uncommitted blocks of a blob whose content is replaced or
 *  deleted. */
export function dropUpload(key: BlobKey, upload: UploadRecord | undefined): readonly Effect[] {
  return dropBlocks(key, upload, undefined);
}

/** The effects that remove the upload of a blob when it is committed: its blocks become content of
 *  the blob or are left out. The quota counts the bytes as those of the blob alone at once,
 *  although the records are removed later. */
export function dropCommitted(
  key: BlobKey,
  { stored, live }: UploadLookup,
  stagedBytes: number,
): readonly Effect[] {
  // The blocks of an upload that has ended (after 7 days) are not read: their size is not known.
  return dropBlocks(key, stored, live === undefined ? undefined : stagedBytes);
}

function dropBlocks(
  key: BlobKey,
  upload: UploadRecord | undefined,
  freedBytes: number | undefined,
): readonly Effect[] {
  if (upload === undefined) return noEffects;
  const removed = remove(uploads, key);
  return hasBlocks(upload) ? [removed, reclaimOwned("upload", upload.id, freedBytes)] : [removed];
}

/** How long deleted blobs can be restored, in days; undefined without soft delete. */
export function retentionDays(account: AccountRecord): number | undefined {
  const policy = account.properties.blob?.deleteRetention;
  return policy?.enabled === true ? policy.days : undefined;
}

/** Whether Undelete Blob can restore a soft-deleted state: until the retention time ends, whether
 *  or not the background job has removed it yet. */
export function isRestorable({ deleted }: BlobRecord, now: Ticks): boolean {
  return deleted !== undefined && now < retentionEnds(deleted);
}

/** The effects that store a soft-deleted state, and the background job that removes it after the
 *  retention time. */
export function softDelete(key: GenerationKey, record: BlobRecord, deleted: Deletion): Effect[] {
  const kept = { ...record, lease: undefined, deleted };
  return [put(generations, key, kept), ...periodJob(generations, key, kept)];
}

/** A snapshot, earlier version or soft-deleted state of a blob. */
export interface Generation {
  readonly key: GenerationKey;
  readonly record: BlobRecord;
}

/** Reads all snapshots, earlier versions and soft-deleted states of a blob, oldest first. */
export async function generationsOf(
  view: RecordView,
  key: BlobKey,
): Promise<readonly Generation[]> {
  const found: Generation[] = [];
  const bounds = generations.range([key.container, key.name]);
  for await (const batch of view.scan(generations, bounds)) {
    for (const { key: encoded, record } of batch) {
      const [, , at, kind] = generations.parts(encoded);
      const named = generationKinds[Number(kind)] ?? "version";
      found.push({ key: { ...key, at: at as Ticks, kind: named }, record });
    }
  }
  return found;
}

/** Finds the current blob, or the snapshot or version that the address names; undefined if it does
 *  not exist, has expired or is soft-deleted. */
export function findBlob(
  view: RecordView,
  key: BlobKey,
  { snapshot, versionId }: Pick<BlobAddress, "snapshot" | "versionId">,
): Awaitable<BlobRecord | undefined> {
  if (snapshot !== undefined)
    return findGeneration(view, { ...key, at: snapshot, kind: "snapshot" });
  return mapAwaitable(view.get(blobs, key), (stored) => {
    const current = stored === undefined || isExpired(stored, view.now) ? undefined : stored;
    if (versionId === undefined || current?.versionId === versionId) return current;
    return findGeneration(view, { ...key, at: versionId, kind: "version" });
  });
}

function findGeneration(view: RecordView, key: GenerationKey): Awaitable<BlobRecord | undefined> {
  return mapAwaitable(view.get(generations, key), (found) =>
    found?.deleted === undefined ? found : undefined,
  );
}

/** Whether the snapshot or version that the address names is soft-deleted and can be restored: the
 *  response 404 then says so (`x-ms-is-soft-deleted`). */
export function isSoftDeleted(
  view: RecordView,
  { container, name }: BlobKey,
  { snapshot }: BlobAddress,
  at: Ticks,
): Awaitable<boolean> {
  const kind = snapshot === undefined ? "version" : "snapshot";
  return mapAwaitable(
    view.get(generations, { container, name, at, kind }),
    (found) => found !== undefined && isRestorable(found, view.now),
  );
}
