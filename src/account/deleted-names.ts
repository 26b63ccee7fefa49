import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { put, reclaimAt, type Effect } from "../operation/effects.ts";
import type { Features } from "../protocol/features.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { recordCodec } from "../encoding/record.ts";
import type { LoadRequest, ReclaimHandler } from "../operation/service.ts";
import { anyTable, defineTable } from "../encoding/table.ts";
import { ticksFromSeconds, ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { RecordView } from "../operation/view.ts";

/** The name of a deleted container, queue, table or share that cannot be reused yet. By default a
 *  deletion frees a name at once. Azure takes 30 s or more and responds with 409 `…BeingDeleted`
 *  until then. In an account with `deletedNameSeconds`, all four kinds respond like this for so
 *  many seconds. A reservation ends at `until`, even if the job that removes its record runs
 *  later. */
export interface DeletedName {
  readonly account: bigint;
  readonly service: ServiceName;
  /** The name normalised as the service compares it, for example in lower case. */
  readonly name: string;
}

interface DeletedNameRecord {
  readonly until: Ticks;
  /** Containers: the time of the deletion. */
  readonly deletedAt?: Ticks;
}

export const deletedNames = defineTable<DeletedName, DeletedNameRecord>({
  name: "deleted-names",
  tag: 0x05,
  key: ({ account, service, name }) => [account, service, name],
  codec: recordCodec<DeletedNameRecord>({ version: 1 }),
});

/** Recorded: a container that is deleted again in this time gets 202 instead of 404. */
const repetitionTicksMax = ticksPerSecond;

/** As `reserveName`, and keeps the time of the deletion for `isRecentlyDeleted`. */
export function keepDeletion(features: Features, key: DeletedName, now: Ticks): readonly Effect[] {
  const until = reservedUntil(features, now);
  const repeatable = now + repetitionTicksMax;
  return kept(key, { until, deletedAt: now }, until > repeatable ? until : repeatable);
}

/** Whether a container of this name was deleted so recently that deleting it again succeeds. */
export function isRecentlyDeleted(view: RecordView, key: DeletedName): Awaitable<boolean> {
  return mapAwaitable(view.get(deletedNames, key), (record) => isRecent(record, view.now));
}

function isRecent(record: DeletedNameRecord | undefined, now: Ticks): boolean {
  return record?.deletedAt !== undefined && now < record.deletedAt + repetitionTicksMax;
}

/** Returns the effects that reserve the name of a deleted resource for `deletedNameSeconds`; none
 *  if the account does not set them. */
export function reserveName(features: Features, key: DeletedName, now: Ticks): readonly Effect[] {
  const until = reservedUntil(features, now);
  return until === now ? [] : kept(key, { until }, until);
}

function reservedUntil({ deletedNameSeconds = 0 }: Features, now: Ticks): Ticks {
  return now + ticksFromSeconds(deletedNameSeconds);
}

/** Stores the record, and the job that removes it when it is due. */
function kept(key: DeletedName, record: DeletedNameRecord, due: Ticks): readonly Effect[] {
  const { account, service, name } = key;
  return [put(deletedNames, key, record), reclaimAt(due, jobKind(service), account, service, name)];
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

function jobKind(service: ServiceName): string {
  return `${service}-deleted-name`;
}

/** Removes the record of an expired reservation. Keeps a record whose `until` was moved by another
 *  deletion: the job of that deletion removes it. */
const reclaimName: ReclaimHandler = async (view, [account, service, name]) => {
  const key = {
    account: account as bigint,
    service: service as ServiceName,
    name: name as string,
  };
  const record = await view.get(deletedNames, key);
  const isUsed = record !== undefined && (record.until > view.now || isRecent(record, view.now));
  if (record === undefined || isUsed) return { done: true };
  const removal = { table: anyTable(deletedNames), key: deletedNames.key(key) };
  return { removals: [removal], done: true };
};

/** The handlers of the jobs that `reserveName` stores. */
export function nameReclaimers(service: ServiceName): Readonly<Record<string, ReclaimHandler>> {
  return { [jobKind(service)]: reclaimName };
}
