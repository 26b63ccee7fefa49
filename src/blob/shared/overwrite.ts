import { formatIso } from "../../base/dates.ts";
import { put, reclaim, remove, type Effect } from "../../operation/effects.ts";
import type { Features } from "../../protocol/features.ts";
import type { Ticks } from "../../base/ticks.ts";
import {
  generations,
  uploads,
  type BlobKey,
  type BlobRecord,
  type UploadRecord,
} from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";
import { softDelete, retentionDays } from "./soft-delete.ts";

/** What a decision to replace or delete a blob depends on. */
export interface OverwriteContext {
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly target: BlobRecord | undefined;
  readonly features: Features;
  readonly now: Ticks;
  readonly newETag: Ticks;
}

/** The key of the addressed blob. */
export function blobKey({ scope }: Pick<OverwriteContext, "scope">): BlobKey {
  return scope.key;
}

/** Whether the current state becomes an earlier version when it is replaced or deleted. A state
 *  that has a version id does, even if versioning was disabled after it was written. */
export function becomesVersion({
  target,
  features,
}: Pick<OverwriteContext, "target" | "features">): boolean {
  return target !== undefined && (features.versioning || target.versionId !== undefined);
}

/**
 * The effects that keep the state that a write replaces: as an earlier version if the account has
 * versioning, otherwise as a soft-deleted snapshot if it has soft delete, otherwise not at all.
 */
export function preservePrevious(context: OverwriteContext): readonly Effect[] {
  const { target, newETag, now, scope } = context;
  // Soft delete of a hierarchical account does not protect against overwrites.
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

/** Whether `blocks` may have records of the upload. */
export function hasBlocks(upload: UploadRecord): boolean {
  return upload.inline === undefined || upload.hasBlocks === true;
}

/** Removes the uncommitted blocks of a blob whose content is replaced or deleted. */
export function dropUpload(key: BlobKey, upload: UploadRecord | undefined): readonly Effect[] {
  if (upload === undefined) return noEffects;
  const removed = remove(uploads, key);
  return hasBlocks(upload) ? [removed, reclaim("blob-blocks", upload.id)] : [removed];
}
