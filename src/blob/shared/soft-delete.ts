import type { AccountRecord } from "../../account/account-record.ts";
import { put, reclaimAt, type Effect } from "../../operation/effects.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  generations,
  type BlobKey,
  type BlobRecord,
  type Deletion,
  type GenerationKey,
} from "../records.ts";

/** How long deleted blobs can be restored, in days; undefined without soft delete. */
export function retentionDays(account: AccountRecord): number | undefined {
  const policy = account.properties.blob?.deleteRetention;
  return policy?.enabled === true ? policy.days : undefined;
}

export function retentionEnds({ at, retentionDays: days }: Deletion): Ticks {
  return at + BigInt(days) * ticksPerDay;
}

/** Whether Undelete Blob can restore a state. Depends on the time alone, whether or not the reclaim
 *  job has run. */
export function isRestorable({ deleted }: BlobRecord, now: Ticks): boolean {
  return deleted !== undefined && now < retentionEnds(deleted);
}

/** Stores a soft-deleted state, and the reclaim job that removes it after the retention time. */
export function softDelete(key: GenerationKey, record: BlobRecord, deleted: Deletion): Effect[] {
  const { container, name, at, kind } = key;
  const expiryJob = reclaimAt(retentionEnds(deleted), "blob-generation", container, name, at, kind);
  return [put(generations, key, { ...record, lease: undefined, deleted }), expiryJob];
}

/** A snapshot, earlier version or soft-deleted state of a blob. */
export interface Generation {
  readonly key: GenerationKey;
  readonly record: BlobRecord;
}

const kinds = ["version", "snapshot", "deleted"] as const;

/** Reads all generations of a blob, oldest first. */
export async function generationsOf(
  view: RecordView,
  key: BlobKey,
): Promise<readonly Generation[]> {
  const found: Generation[] = [];
  const bounds = generations.range([key.container, key.name]);
  for await (const batch of view.scan(generations, bounds)) {
    for (const { key: encoded, record } of batch) {
      const [, , at, kind] = generations.parts(encoded);
      const named = kinds[Number(kind)] ?? "version";
      found.push({ key: { ...key, at: at as Ticks, kind: named }, record });
    }
  }
  return found;
}
