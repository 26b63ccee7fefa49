import { leaseProperties, type LeaseProperties } from "../../protocol/lease.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { BlobRecord, Deletion } from "../records.ts";

/** Undefined for snapshots: they are not versions. */
export function versionIdOf({ snapshot, versionId }: BlobRecord): Ticks | undefined {
  return snapshot === undefined ? versionId : undefined;
}

export function isCurrentVersion(record: BlobRecord): boolean {
  const { superseded, deleted } = record;
  return versionIdOf(record) !== undefined && superseded !== true && deleted === undefined;
}

/** Undefined for snapshots, versions and deleted entries, which are listed without a lease. */
export function leaseOf(record: BlobRecord, now: Ticks): LeaseProperties | undefined {
  const { snapshot, superseded, deleted } = record;
  if (snapshot !== undefined || superseded === true || deleted !== undefined) return undefined;
  return leaseProperties(record.lease, now);
}

/** Recorded: only append blobs are listed with `Sealed`. */
export function isSealed({ type, sealed }: BlobRecord): boolean {
  return type === "AppendBlob" && sealed === true;
}

export function remainingDays({ at, retentionDays }: Deletion, now: Ticks): number {
  const goneDays = Number((now - at) / ticksPerDay);
  return Math.max(0, retentionDays - goneDays);
}

export function tagCountOf({ tags }: BlobRecord): number | undefined {
  const count = tags === undefined ? 0 : Object.keys(tags).length;
  return count === 0 ? undefined : count;
}
