import { leaseProperties, type LeaseProperties } from "../../protocol/lease.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { BlobRecord, Deletion } from "../records.ts";

/** The version id that a listing shows; undefined for snapshots, which are not versions. */
export function versionIdOf({ snapshot, versionId }: BlobRecord): Ticks | undefined {
  return snapshot === undefined ? versionId : undefined;
}

export function isCurrentVersion(record: BlobRecord): boolean {
  const { superseded, deleted } = record;
  return versionIdOf(record) !== undefined && superseded !== true && deleted === undefined;
}

/** The lease that a listing shows. Undefined for snapshots, earlier versions and soft-deleted
 *  entries, which are listed without one. */
export function leaseOf(record: BlobRecord, now: Ticks): LeaseProperties | undefined {
  const { snapshot, superseded, deleted } = record;
  if (snapshot !== undefined || superseded === true || deleted !== undefined) return undefined;
  return leaseProperties(record.lease, now);
}

/** Whether a listing shows `Sealed`. Recorded: only append blobs have it. */
export function isSealed({ type, sealed }: BlobRecord): boolean {
  return type === "AppendBlob" && sealed === true;
}

/** Whole days until a soft-deleted entry can no longer be restored. */
export function remainingDays({ at, retentionDays }: Deletion, now: Ticks): number {
  const goneDays = Number((now - at) / ticksPerDay);
  return Math.max(0, retentionDays - goneDays);
}

/** Undefined if the blob has no tags. */
export function tagCountOf({ tags }: BlobRecord): number | undefined {
  const count = tags === undefined ? 0 : Object.keys(tags).length;
  return count === 0 ? undefined : count;
}
