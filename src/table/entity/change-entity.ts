import type { EntityKeys } from "../../protocol/principal.ts";
import { missingHeader } from "../../protocol/faults.ts";
import { timeout } from "../../operation/common-params.ts";
import { fail, type Failure, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import { type Property, checkEntity, checkKey } from "../edm/edm.ts";
import type { ReplyHeaders } from "../../operation/reply.ts";
import {
  odataHeaders,
  preferNoContent,
  unconditional,
  prefer,
  representation,
} from "../representation.ts";
import { keysOf, operation } from "../resources.ts";
import { type TableAddress, entityPath } from "../path.ts";
import { entityRecord, type EntityRecord } from "../stored/entity-record.ts";
import { decodeText, malformedEntity, type EntityInput } from "./entity-input.ts";
import { readAtomEntity } from "../atom/atom.ts";
import { readJsonEntity } from "../json/read-entity.ts";
import { entityBodyBytesMax } from "../edm/edm.ts";
import { renderEntity } from "../render.ts";
import { noETag, creation } from "../../operation/operation.ts";

/** The operations that write one entity: Insert, Update, Merge, Insert Or Replace, Insert Or Merge,
 *  Delete. They are also the parts of an entity group transaction. */

/** The body of Insert, Update and Merge Entity. Content-Type selects JSON or Atom. */
const entityBody = {
  kind: "bytes",
  bytesMax: entityBodyBytesMax,
  parse: parseEntity,
} as const;

function parseEntity(bytes: Uint8Array, contentType: string): Result<EntityInput> {
  const text = decodeText(bytes);
  if (text === undefined) return malformedEntity();
  const type = contentType.toLowerCase();
  if (type.includes("xml")) return readAtomEntity(text);
  const isJson = type === "" || type.includes("json");
  return isJson ? readJsonEntity(text) : fail("MediaTypeNotSupported");
}

/** What Update, Merge, Insert Or Replace and Insert Or Merge decide from. */
interface ChangeContext {
  readonly address: TableAddress;
  readonly target: EntityRecord | undefined;
  readonly newETag: Ticks;
  readonly version: string;
  readonly input: {
    readonly body: EntityInput;
    readonly prefer: "return-no-content" | undefined;
  };
}

/** The reply of Update, Merge, Insert Or Replace and Insert Or Merge. */
interface ChangeReply {
  readonly put: EntityRecord;
  readonly headers: readonly ReplyHeaders[];
}

/** What the declarations of Update, Merge, Insert Or Replace and Insert Or Merge have in common. */
const change = {
  body: entityBody,
  lease: "none",
  etag: "renew",
  status: 204,
} as const;

/** The operations with If-Match: they change an entity that exists. */
const conditionalChange = {
  ...change,
  params: { representation, prefer: preferNoContent, timeout },
  permission: { letters: "u", resourceType: "o" },
  target: "must-exist",
  conditions: "match",
  conditionFaults: { any: "UpdateConditionNotSatisfied" },
} as const;

const upsertSince = "2011-08-18";

/** The operations without If-Match: they create or change unconditionally; the last writer wins. */
const upsert = {
  ...change,
  since: upsertSince,
  params: { representation, prefer: preferNoContent, unconditional, timeout },
  permission: { letters: "au", needsEveryLetter: true, resourceType: "o" },
  target: "may-exist",
  conditions: "none",
} as const;

const replaceMethod = "PUT";
const mergeMethods = ["MERGE", "PATCH"] as const;

/** Replaces an entity. learn.microsoft.com/rest/api/storageservices/update-entity2 */
export const updateEntity = operation({
  ...conditionalChange,
  name: "Update Entity",
  ids: ["Table_UpdateEntity"],
  route: { method: replaceMethod, resource: "entity", headers: { "if-match": true } },
  decide: replaceProperties,
});

/** Sets properties of an entity, and keeps its other ones.
 *  learn.microsoft.com/rest/api/storageservices/merge-entity */
export const mergeEntity = operation({
  ...conditionalChange,
  name: "Merge Entity",
  ids: ["Table_MergeEntity"],
  route: { method: mergeMethods, resource: "entity", headers: { "if-match": true } },
  decide: mergeProperties,
});

/** learn.microsoft.com/rest/api/storageservices/insert-or-replace-entity */
export const insertOrReplaceEntity = operation({
  ...upsert,
  name: "Insert Or Replace Entity",
  ids: ["Table_InsertOrReplaceEntity"],
  route: { method: replaceMethod, resource: "entity", headers: { "if-match": false } },
  decide: (context) => checkUpsert(context) ?? replaceProperties(context),
});

/** learn.microsoft.com/rest/api/storageservices/insert-or-merge-entity */
export const insertOrMergeEntity = operation({
  ...upsert,
  name: "Insert Or Merge Entity",
  ids: ["Table_InsertOrMergeEntity"],
  route: { method: mergeMethods, resource: "entity", headers: { "if-match": false } },
  decide: (context) => checkUpsert(context) ?? mergeProperties(context),
});

/** Update and Merge Entity without If-Match fail in versions that do not have Insert Or Replace
 *  Entity and Insert Or Merge Entity. */
function checkUpsert({ version }: ChangeContext): Failure | undefined {
  return version < upsertSince ? missingHeader("If-Match") : undefined;
}

/** The decision of Update and Insert Or Replace: the properties of the body replace all others. */
function replaceProperties({ address, newETag, input }: ChangeContext): ChangeReply | Failure {
  return changeReply(keysOf(address), input, newETag, input.body.properties);
}

/** The decision of Merge and Insert Or Merge: properties that the body lacks are kept. */
function mergeProperties({
  address,
  target,
  newETag,
  input,
}: ChangeContext): ChangeReply | Failure {
  const merged = new Map<string, Property>();
  for (const property of target?.properties ?? []) merged.set(property[0], property);
  for (const property of input.body.properties) merged.set(property[0], property);
  return changeReply(keysOf(address), input, newETag, [...merged.values()]);
}

const plainHeaders = [odataHeaders];
const noContentHeaders = [odataHeaders, { "Preference-Applied": "return-no-content" }];

/** The reply of a change, after checks of keys and size. Sorts the properties by name: after an
 *  update the service returns them in that order (recorded from Azure). */
function changeReply(
  keys: EntityKeys,
  { body, prefer: preference }: ChangeContext["input"],
  newETag: Ticks,
  properties: readonly Property[],
): ChangeReply | Failure {
  const checked = checkKeys(keys, body);
  if (!checked.ok) return checked;
  const fits = checkEntity(keys, properties);
  if (!fits.ok) return fits;
  const sorted = properties.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const put = entityRecord(newETag, sorted);
  return { put, headers: preference === undefined ? plainHeaders : noContentHeaders };
}

/** Fails if a key is invalid, or differs between address and body, which may only repeat it. */
function checkKeys(keys: EntityKeys, body: EntityInput): Result<undefined> {
  if ((body.partitionKey ?? keys.partitionKey) !== keys.partitionKey) return fail("InvalidInput");
  if ((body.rowKey ?? keys.rowKey) !== keys.rowKey) return fail("InvalidInput");
  const partition = checkKey("PartitionKey", keys.partitionKey);
  return partition.ok ? checkKey("RowKey", keys.rowKey) : partition;
}

/** Adds an entity, whose keys are in the body, and returns it unless the client declines.
 *  learn.microsoft.com/rest/api/storageservices/insert-entity */
export const insertEntity = operation({
  name: "Insert Entity",
  ids: ["Table_InsertEntity"],
  route: { method: "POST", resource: "entities" },
  params: { representation, prefer, unconditional, timeout },
  body: entityBody,
  permission: { letters: "a", resourceType: "o" },
  ...creation,
  status: 201,
  completeAddress: (address, { body: { partitionKey, rowKey } }) => {
    if (partitionKey === undefined || rowKey === undefined) return address;
    const { resource, table, isBelowTable } = address;
    const located = { resource, table, keys: { partitionKey, rowKey } };
    return isBelowTable === undefined ? located : { ...located, isBelowTable };
  },
  decide: ({ address, scope, input, newETag, account, endpoint }) => {
    const { keys } = address;
    if (keys === undefined) return fail("PropertiesNeedValue");
    const { properties, hasTypedKey } = input.body;
    if (hasTypedKey) return fail("InvalidInput");
    const fits = checkEntity(keys, properties);
    if (!fits.ok) return fits;
    const record = entityRecord(newETag, properties);
    const { name: table } = scope.table;
    const location = `${endpoint}/${entityPath(table, keys)}`;
    const isWithoutBody = input.prefer === "return-no-content";
    const ownHeaders = {
      "Preference-Applied": input.prefer,
      Location: location,
      DataServiceId: isWithoutBody ? location : undefined,
    };
    const headers = [odataHeaders, ownHeaders];
    if (isWithoutBody) return { status: 204, put: record, headers };
    const { representation: format } = input;
    const options = { format, table, account, endpoint, select: undefined };
    const body = renderEntity({ ...keys, record }, options);
    return { put: record, headers, body };
  },
});

/** Removes an entity. learn.microsoft.com/rest/api/storageservices/delete-entity1 */
export const deleteEntity = operation({
  name: "Delete Entity",
  ids: ["Table_DeleteEntity"],
  route: { method: "DELETE", resource: "entity" },
  params: { representation, timeout },
  permission: { letters: "d", resourceType: "o" },
  target: "must-exist",
  conditions: "match",
  conditionFaults: { any: "UpdateConditionNotSatisfied" },
  lease: "none",
  etag: "none",
  isDeletion: true,
  status: 204,
  decide: () => ({ remove: true, headers: odataHeaders }),
});

/** A DELETE of a path with one more segment, `/table/table(…)`, which clients send if their
 *  endpoint already includes the table. Always fails, with the message recorded from Azure. */
export const rejectDeleteBelowTable = operation({
  name: "Delete Entity",
  ids: [],
  route: { method: "DELETE", resource: "nested" },
  permission: { letters: "d", resourceType: "o" },
  target: "optional",
  ...noETag,
  isDeletion: true,
  status: 204,
  decide: ({ account, scope }) =>
    fail("InvalidInput", {
      message:
        "The number of keys specified in the URI does not match number of key properties for " +
        `the resource '${account}.${scope.table.name}'.`,
    }),
});
