import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { periodJob, put, type Effect } from "../operation/effects.ts";
import type { Features } from "../protocol/features.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { LoadRequest } from "../operation/service.ts";
import { defineTable, type Period, internalRecord, recordCodec } from "../encoding/table.ts";
import { ticksFromSeconds, ticksPerDay, ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { RecordView } from "../operation/view.ts";

/** Names of deleted containers, queues, tables and shares that cannot be reused yet. By default a
 *  deletion frees a name at once. Azure takes 30 s or more and responds with 409 `…BeingDeleted`
 *  until then. In an account with `deletedNameSeconds`, all four kinds respond like this for so
 *  many seconds. A reservation ends at `until`, even if the job that removes its record runs
 *  later. */

/** The name of a deleted resource in an account: the key of its reservation. */
export interface DeletedName {
  readonly account: bigint;
  readonly service: ServiceName;
  /** The name normalised as the service compares it, for example in lower case. */
  readonly name: string;
}

interface DeletedNameRecord {
  readonly until: Ticks;
  /** When the container was deleted; only set for containers, of which a second deletion succeeds
   *  for a second (`repetitionTicksMax`). */
  readonly deletedAt?: Ticks;
}

/** The `period` of tables with soft-deleted containers or shares: when the retention of a record
 *  ends, a job removes it. */
export function softDeletePeriod<R extends { deletedAt: Ticks; retentionDays: number }>(
  jobKind: string,
): Period<R> {
  return {
    jobKinds: [jobKind],
    scopeOf: ([account, name, version]) => [account as bigint, name as string, version as Ticks],
    ends: ({ deletedAt, retentionDays }) => deletedAt + BigInt(retentionDays) * ticksPerDay,
    keyPartsOf: (scope) => scope,
  };
}

/** Recorded from Azure: a container that is deleted again in this time gets 202 instead of 404. */
const repetitionTicksMax = ticksPerSecond;

export const deletedNames = defineTable<DeletedName, DeletedNameRecord>({
  name: "deleted-names",
  tag: 0x05,
  key: ({ account, service, name }) => [account, service, name],
  codec: recordCodec<DeletedNameRecord>({ version: 1 }),
  // The owner is the store, because a reservation may outlive its account.
  owner: "store",
  ...internalRecord,
  period: {
    jobKinds: [
      "blob-deleted-name",
      "queue-deleted-name",
      "table-deleted-name",
      "file-deleted-name",
    ],
    jobKindOf: ([, service]) => `${String(service)}-deleted-name`,
    scopeOf: ([account, service, name]) => [account as bigint, service as string, name as string],
    ends: ({ until, deletedAt }) => {
      const repeatable = deletedAt === undefined ? until : deletedAt + repetitionTicksMax;
      return repeatable > until ? repeatable : until;
    },
    keyPartsOf: (scope) => scope,
  },
});

/** Like `reserveName`, for containers: always stores the time of the deletion, which
 *  `isRecentlyDeleted` reads. */
export function keepDeletion(features: Features, key: DeletedName, now: Ticks): readonly Effect[] {
  return reservation(key, { until: reservedUntil(features, now), deletedAt: now });
}

/** Whether a container of this name was deleted so recently that deleting it again succeeds. */
export function isRecentlyDeleted(view: RecordView, key: DeletedName): Awaitable<boolean> {
  return mapAwaitable(
    view.get(deletedNames, key),
    (record) => record?.deletedAt !== undefined && view.now < record.deletedAt + repetitionTicksMax,
  );
}

/** Returns the effects that reserve the name of a deleted resource for `deletedNameSeconds`; none
 *  if the account does not set them. */
export function reserveName(features: Features, key: DeletedName, now: Ticks): readonly Effect[] {
  const until = reservedUntil(features, now);
  return until === now ? [] : reservation(key, { until });
}

function reservedUntil({ deletedNameSeconds = 0 }: Features, now: Ticks): Ticks {
  return now + ticksFromSeconds(deletedNameSeconds);
}

/** Returns the effects that store the record, and the job that removes it when it is due. */
function reservation(key: DeletedName, record: DeletedNameRecord): readonly Effect[] {
  return [put(deletedNames, key, record), ...periodJob(deletedNames, key, record)];
}

/** Whether the name of an absent container, queue, table or share is reserved. Called by the `load`
 *  of its resource; reads the store only if the operation may create it (`target`). */
export function isNameReserved(
  view: RecordView,
  { operation, features }: Pick<LoadRequest, "operation" | "features">,
  key: DeletedName,
): Awaitable<boolean> {
  const creates = operation?.target === "must-not-exist" || operation?.target === "may-exist";
  if (!creates || (features?.deletedNameSeconds ?? 0) === 0) return false;
  return mapAwaitable(
    view.get(deletedNames, key),
    (record) => record !== undefined && record.until > view.now,
  );
}
