import type { KeyPart } from "../encoding/keys.ts";
import { withEncodedKeys, type AnyTable, type OwnerKind } from "../encoding/table.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { Transaction } from "../store/store.ts";
import { ownerJob, ownerJobKinds, periodJobOf, type ReclaimJob } from "./effects.ts";
import type { ReclaimHandler, Removal } from "./service.ts";
import type { RecordView } from "./view.ts";

/** Derives from the declarations of tables which records belong to an id (of an account, a
 *  container, …): `owner` says whose id the keys begin with, `defines` which ids the records
 *  create. From this follow the handlers of reclaim jobs, which remove all that a deleted record
 *  owned, and its bytes and records. Used by `data/services.ts`, quotas, archives and `etagere
 *  check`. */

/** Most records that one transaction removes, unless their table declares fewer: a larger one would
 *  delay the requests in its commit batch. */
const removalsMax = 500;

/** An id that a record defines, and by which other records are keyed. */
export interface OwnerId {
  readonly kind: OwnerKind;
  readonly id: bigint;
}

/** The ids that a record defines, and by which further records are keyed. Without that of its
 *  owner: the root directory of a container has the container's own id. */
export function definedIds(
  { defines }: AnyTable,
  record: object,
  owner?: KeyPart,
): readonly OwnerId[] {
  return defines.flatMap(({ field, kind }) => {
    const id = (record as Readonly<Record<string, unknown>>)[field];
    return typeof id === "bigint" && id !== owner ? [{ kind, id }] : [];
  });
}

/** Returns the handlers of reclaim jobs, by kind, that follow from a service's tables. */
export function reclaimersOf(
  tables: readonly AnyTable[],
  service?: ServiceName,
): Readonly<Record<string, ReclaimHandler>> {
  const owners = Object.entries(ownerJobKinds) as [OwnerKind, readonly string[]][];
  const account: readonly [OwnerKind, readonly string[]][] =
    service === undefined ? [] : [["account", [`${service}-account`]]];
  const ofOwners = [...owners, ...account].flatMap(([kind, jobKinds]) => {
    const owned = tables.filter(({ owner }) => owner === kind);
    const handler = removeOwned(owned);
    return owned.length === 0 ? [] : jobKinds.map((jobKind) => [jobKind, handler] as const);
  });
  const ofPeriods = tables.flatMap((table) => {
    const { period } = table;
    if (period?.keyPartsOf === undefined) return [];
    const handler = removeExpired(table);
    return period.jobKinds.map((jobKind) => [jobKind, handler] as const);
  });
  return Object.fromEntries([...ofOwners, ...ofPeriods]);
}

/** Removes all that an id owns, table by table, a bounded number of records per step; at last the
 *  counters of the id. */
export function removeOwned(tables: readonly AnyTable[]): ReclaimHandler {
  const counters = tables.flatMap((table) => table.counters ?? []).map(({ counter }) => counter);
  return async (view, [scope]) => {
    const id = scope as bigint;
    const removals: Removal[] = [];
    const jobs: ReclaimJob[] = [];
    for (const table of tables) {
      const limit = table.removalsMax ?? removalsMax;
      let found = 0;
      for await (const batch of view.scan(table, { ...table.range([id]), limit })) {
        for (const scanned of batch) {
          found += 1;
          removals.push({ table, key: scanned.key });
          if (table.defines.length > 0) jobs.push(...jobsBelow(table, scanned.record, id));
        }
      }
      if (found === limit || removals.length >= removalsMax) return { removals, jobs, done: false };
    }
    removals.push(...counters.map((counter) => ({ key: counter.key(id) })));
    return { removals, jobs, done: true };
  };
}

/** Jobs that remove the records below a removed one, which are keyed by the ids that it defines. */
function jobsBelow(table: AnyTable, record: object, owner?: KeyPart): readonly ReclaimJob[] {
  return definedIds(table, record, owner).map(({ kind, id }) => ownerJob(kind, id));
}

/** Removes a record whose period has ended. If the period has been prolonged since the job was
 *  stored, stores the job again with the new time. */
export function removeExpired(table: AnyTable): ReclaimHandler {
  const { period } = table;
  const encoded = withEncodedKeys(table);
  return async (view, scope) => {
    const parts = period?.keyPartsOf?.(scope) ?? [];
    const key = table.prefix(parts);
    const record = await view.get(encoded, key);
    if (record === undefined || period?.isFor?.(record, scope) === false) return { done: true };
    const job = periodJobOf(table, parts, record);
    if (job?.due === undefined) return { done: true };
    if (job.due > view.now) return { jobs: [job], done: true };
    const postponedTo = period?.postponedTo?.(record, view.now);
    if (postponedTo !== undefined) return { jobs: [{ ...job, due: postponedTo }], done: true };
    return { removals: [{ table, key }], jobs: jobsBelow(table, record), done: true };
  };
}

/** Sums the counted bytes of all that an id owns, also through ids that its records define. */
export async function countOwned(
  view: RecordView,
  tables: readonly AnyTable[],
  root: OwnerId,
): Promise<number> {
  let bytes = 0;
  const pending: OwnerId[] = [root];
  const seen = new Set([root.id]);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { kind, id } = next;
    for (const table of tables) {
      const { owner, defines, countedBytes } = table;
      if (owner !== kind || (countedBytes === undefined && defines.length === 0)) continue;
      for await (const batch of view.scan(table, table.range([id]))) {
        for (const { record } of batch) {
          bytes += countedBytes?.(record) ?? 0;
          for (const defined of definedIds(table, record)) {
            if (seen.has(defined.id)) continue;
            seen.add(defined.id);
            pending.push(defined);
          }
        }
      }
    }
  }
  return bytes;
}

/** The id whose records a reclaim job removes; undefined for jobs of other kinds. */
export function ownerOfJob({ kind, scope: [id] }: ReclaimJob): OwnerId | undefined {
  const owners = Object.entries(ownerJobKinds) as [OwnerKind, readonly string[]][];
  const [owner] = owners.find(([, jobKinds]) => jobKinds.includes(kind)) ?? [];
  const isAccount = kind.endsWith("-account");
  if (typeof id !== "bigint" || (owner === undefined && !isAccount)) return undefined;
  return { kind: owner ?? "account", id };
}

/** Whether an account has a container, queue, table or share, or one that can be restored. */
export async function hasArchivedRecords(
  tx: Transaction,
  tables: readonly AnyTable[],
  account: bigint,
): Promise<boolean> {
  for (const table of tables) {
    if (table.owner !== "account" || !table.isArchived) continue;
    for await (const entries of tx.range({ ...table.range([account]), limit: 1 })) {
      if (entries.length > 0) return true;
    }
  }
  return false;
}
