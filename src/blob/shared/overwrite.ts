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

/** What a decision that replaces or deletes a blob looks at. */
export interface OverwriteContext {
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly target: BlobRecord | undefined;
  readonly features: Features;
  readonly now: Ticks;
  readonly newETag: Ticks;
}

export function blobKey({ scope }: Pick<OverwriteContext, "scope">): BlobKey {
  return scope.key;
}

/**
 * The state a write leaves behind: an earlier version on accounts that keep versions, else a
 * soft-deleted snapshot where deletes can be undone, else nothing.
 */
export function preservePrevious(succession: OverwriteContext): readonly Effect[] {
  const { target, features, newETag, now, scope } = succession;
  // Soft delete of a hierarchical account does not protect against overwrites.
  if (target === undefined || scope.account.hierarchicalNamespace === true) return [];
  const key = blobKey(succession);
  const previous = { ...target, lease: undefined };
  if (features.versioning || target.versionId !== undefined) {
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

/** The version id a replacing write gives, where versions are kept. */
export function nextVersion({ features, newETag }: OverwriteContext): Ticks | undefined {
  return features.versioning ? newETag : undefined;
}

export function versionHeader(versionId: Ticks | undefined): string | undefined {
  return versionId === undefined ? undefined : formatIso(versionId);
}

const noEffects: readonly Effect[] = [];

/** Whether `blocks` may have records of the upload. */
export function hasBlocks(upload: UploadRecord): boolean {
  return upload.inline === undefined || upload.hasBlocks === true;
}

/** A new content makes blocks that were waiting to be committed worthless. */
export function dropUpload(key: BlobKey, upload: UploadRecord | undefined): readonly Effect[] {
  if (upload === undefined) return noEffects;
  const removed = remove(uploads, key);
  return hasBlocks(upload) ? [removed, reclaim("blob-blocks", upload.id)] : [removed];
}
