import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { put, reclaimAt, type Effect } from "../operation/effects.ts";
import type { Features } from "../protocol/features.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { recordCodec } from "../encoding/record.ts";
import type { LoadRequest, ReclaimHandler } from "../operation/service.ts";
import { anyTable, defineTable } from "../encoding/table.ts";
import { ticksFromSeconds, type Ticks } from "../base/ticks.ts";
import type { RecordView } from "../operation/view.ts";

/** Names of deleted containers, queues, tables and shares that cannot be reused yet. By default a
 *  deletion frees a name at once; Azure takes 30 s or more and responds with 409 `…BeingDeleted`
 *  until then. An account with `deletedNameSeconds` gets the same, for all four kinds. The expiry
 *  is computed when a name is read; the job only removes the record. */
export interface DeletedName {
  readonly account: bigint;
  readonly service: ServiceName;
  /** The name in the form in which the service compares names. */
  readonly name: string;
}

export const deletedNames = defineTable<DeletedName, { readonly until: Ticks }>({
  name: "deleted-names",
  tag: 0x05,
  key: ({ account, service, name }) => [account, service, name],
  codec: recordCodec<{ readonly until: Ticks }>({ version: 1 }),
});

/** Effects of an operation that deletes: reserves the name for `deletedNameSeconds`. */
export function reserveName(features: Features, key: DeletedName, now: Ticks): readonly Effect[] {
  const seconds = features.deletedNameSeconds ?? 0;
  if (seconds === 0) return [];
  const until = now + ticksFromSeconds(seconds);
  const { account, service, name } = key;
  return [
    put(deletedNames, key, { until }),
    reclaimAt(until, jobKind(service), account, service, name),
  ];
}

/** For `load` of an absent container, queue, table or share: whether its name is reserved. Reads
 *  only for an operation that would create it, as its declaration's `target` says. */
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

/** If the name was deleted again meanwhile, a later job removes the record. */
const reclaimName: ReclaimHandler = async (view, [account, service, name]) => {
  const key = {
    account: account as bigint,
    service: service as ServiceName,
    name: name as string,
  };
  const record = await view.get(deletedNames, key);
  if (record === undefined || record.until > view.now) return { done: true };
  const gone = { table: anyTable(deletedNames), key: deletedNames.key(key) };
  return { removals: [gone], done: true };
};

export function nameReclaimers(service: ServiceName): Readonly<Record<string, ReclaimHandler>> {
  return { [jobKind(service)]: reclaimName };
}
