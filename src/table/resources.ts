import type { AccountRecord, AccountScope } from "../account/account-record.ts";
import {
  corsRulesFor,
  loadAccount,
  namedResource,
  serviceResource,
} from "../account/service-resource.ts";
import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { checkTableName } from "../protocol/names.ts";
import { operationsOf } from "../operation/operation.ts";
import { fail, ok } from "../protocol/result.ts";
import { defineResource } from "../operation/service.ts";
import type { LoadedResource, SignedName, LoadRequest } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { RecordView } from "../operation/view.ts";
import type { TableAddress } from "./path.ts";
import { entities, tables, type TableRecord } from "./records.ts";
import type { EntityRecord } from "./stored/entity-record.ts";

/** Loads the records that an operation of the Table service needs: account, table, entity. It runs
 *  for each entity of a transaction, so it creates few promises and closures. */

interface TableScope extends AccountScope {
  readonly table: TableRecord;
}

/** The types of scope (parent records) and target (addressed record) of each resource of this
 *  service; the names are those of `TableAddress`. */
interface TableResources {
  readonly [name: string]: { scope: object; target: object };
  readonly service: { scope: AccountScope; target: AccountRecord };
  readonly batch: { scope: AccountScope; target: AccountRecord };
  readonly tables: { scope: AccountScope; target: TableRecord };
  readonly table: { scope: AccountScope; target: TableRecord };
  readonly entities: { scope: TableScope; target: EntityRecord };
  readonly entity: { scope: TableScope; target: EntityRecord };
  readonly nested: { scope: TableScope; target: EntityRecord };
}

/** Declares an operation of this service; 2009-09-19 is the first x-ms-version of most of them. */
export const operation = operationsOf<TableResources, TableAddress>("2009-09-19");

/** The names in a SAS: the table, and the keys, which must be in the key range of the SAS. */
export function signedName({ table, keys }: TableAddress): SignedName {
  return { name: table || undefined, entity: keys };
}

/** Loads an entity and its scope; `previous` was loaded for the last part of the transaction. */
function loadEntity(
  view: RecordView,
  request: LoadRequest<TableAddress>,
  previous?: LoadedResource,
): Awaitable<LoadedResource> {
  return previous !== undefined && isInTable(previous, request.address)
    ? loadTarget(view, request.address, previous)
    : loadWithTable(view, request);
}

/** Loads account and table, then the entity. Not inlined: `loadEntity`, which runs for each part of
 *  a transaction, would allocate these closures also when it does not need them. */
function loadWithTable(
  view: RecordView,
  request: LoadRequest<TableAddress>,
): Awaitable<LoadedResource> {
  return mapAwaitable(loadAccount(view, request), (account) =>
    mapAwaitable(findTable(view, { account: account.id, name: request.address.table }), (table) => {
      const loaded = withoutTarget(account, table);
      return table === undefined ? loaded : loadTarget(view, request.address, loaded);
    }),
  );
}

/** Whether the previous operation of the transaction used the same table. Operations on entities
 *  change neither table nor account, so its records are still valid. */
function isInTable({ scope }: LoadedResource, { table }: TableAddress): boolean {
  return scope.ok && (scope.value as TableScope).table.name === table;
}

function withoutTarget(account: AccountRecord, table: TableRecord | undefined): LoadedResource {
  const cors = corsOf(account);
  const scope = table === undefined ? fail("TableNotFound") : ok({ account, table });
  return { access: table, scope, target: undefined, cors };
}

function loadTarget(
  view: RecordView,
  { keys }: TableAddress,
  loaded: LoadedResource,
): Awaitable<LoadedResource> {
  const { scope } = loaded;
  if (keys === undefined || !scope.ok) return withTarget(loaded, undefined);
  const { partitionKey, rowKey } = keys;
  const { table } = scope.value as TableScope;
  const target = view.get(entities, { table: table.id, partitionKey, rowKey });
  return target instanceof Promise ? withPendingTarget(loaded, target) : withTarget(loaded, target);
}

function withTarget(
  { access, scope, cors }: LoadedResource,
  target: object | undefined,
): LoadedResource {
  return { access, scope, target, cors };
}

async function withPendingTarget(
  loaded: LoadedResource,
  target: Promise<object | undefined>,
): Promise<LoadedResource> {
  return withTarget(loaded, await target);
}

/** The record of a table. Undefined if an earlier release has marked the table as being deleted. */
function findTable(
  view: RecordView,
  key: { readonly account: bigint; readonly name: string },
): Awaitable<TableRecord | undefined> {
  if (!checkTableName(key.name).ok) return undefined;
  return mapAwaitable(view.get(tables, key), (table) =>
    table?.isBeingDeleted === true ? undefined : table,
  );
}

const corsOf = corsRulesFor("table");

const service = serviceResource("table");

const table = namedResource<TableAddress>({
  service: "table",
  nameOf: (address) => address.table.toLowerCase(),
  find: findTable,
  table: anyTable(tables),
  missing: "ResourceNotFound",
  present: "TableAlreadyExists",
  reserved: "TableBeingDeleted",
  leaseKind: "container",
});

const entity = defineResource<TableAddress>({
  load: loadEntity,
  table: anyTable(entities),
  keyOf: (scope, { address }) => {
    const { partitionKey, rowKey } = keysOf(address);
    return { table: (scope as TableScope).table.id, partitionKey, rowKey };
  },
  missing: "ResourceNotFound",
  present: "EntityAlreadyExists",
  leaseKind: "container",
});

/** Returns the keys of an entity, from the path or the body. Throws if an operation on an entity
 *  has none: a bug. */
export function keysOf({ keys }: TableAddress) {
  if (keys === undefined) throw new Error("an operation on an entity has no keys");
  return keys;
}

/** The definition of each resource. Collections have that of their members: Create Table and Insert
 *  Entity address the collection and get the name of the member from the body. */
export const resources = {
  service,
  batch: service,
  tables: table,
  table,
  entities: entity,
  entity,
  nested: entity,
};
