import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import type { EntityKeys } from "../../protocol/principal.ts";
import type { Param } from "../../protocol/params.ts";
import { resourceNameUnitsMax } from "../../protocol/names.ts";
import { fail, ok } from "../../protocol/result.ts";
import { keyUnitsMax } from "../edm/edm.ts";
import { parseFilter, type Filter } from "../filter/parse-filter.ts";
import { timeout } from "../../operation/common-params.ts";
import { odataHeaders, representation } from "../representation.ts";
import { renderEntity, renderEntities } from "../render.ts";
import { keysOf, operation } from "../resources.ts";
import { noETag, propertiesRead } from "../../operation/operation.ts";
import { scanEntities } from "./scan-entities.ts";

/** The operations that read entities: Query Entities for one by its keys, or for a page; and the
 *  parameters of queries, which Query Tables has as well. */

/** Formats a continuation token as the service does: `1!`, the length of the rest, `!`, and the
 *  Base64 of the key with `-` for `=`. */
export function formatToken(text: string): string {
  const encoded = encodeBase64(new TextEncoder().encode(text)).replaceAll("=", "-");
  return `1!${encoded.length}!${encoded}`;
}

const tokenForm = /^1!(\d{1,5})!([A-Za-z0-9+/-]*)$/;

/** Returns the key or table name in a continuation token. A token in any other format is the key
 *  itself, as older clients send it. */
export function parseToken(token: string): string {
  const encoded = tokenForm.exec(token)?.[2];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded.replaceAll("-", "="));
  return bytes === undefined ? token : new TextDecoder().decode(bytes);
}

/** The keys of the first entity of the requested page; undefined for the first page. A response has
 *  them as headers if there is a next page. */
const nextEntity: Param<EntityKeys | undefined> = {
  sources: ["?NextPartitionKey", "?NextRowKey"],
  parse: (reader) => {
    const partition = reader.query("nextpartitionkey");
    if (partition === undefined || partition === "") return ok(undefined);
    const row = reader.query("nextrowkey") ?? "";
    const keys = { partitionKey: parseToken(partition), rowKey: parseToken(row) };
    const isValid = keys.partitionKey.length <= keyUnitsMax && keys.rowKey.length <= keyUnitsMax;
    return isValid ? ok(keys) : fail("InvalidInput");
  },
};

/** The name of the first table of the requested page of Query Tables; undefined for the first. */
export const nextTable: Param<string | undefined> = {
  sources: ["?NextTableName"],
  parse: (reader) => {
    const token = reader.query("nexttablename");
    if (token === undefined || token === "") return ok(undefined);
    const name = parseToken(token);
    return name.length <= resourceNameUnitsMax ? ok(name) : fail("InvalidInput");
  },
};

/** Azure's limit of entities in one page. */
const pageRowsMax = 1000;
/** Limit of the names in `$select`: 252 properties of an entity, its keys and Timestamp. */
const selectedMax = 255;

export const filter: Param<Filter | undefined> = {
  sources: ["?$filter"],
  parse: (reader) => {
    const text = reader.query("$filter");
    return text === undefined || text.trim() === "" ? ok(undefined) : parseFilter(text);
  },
};

/** `$top`: the size of a page, at most 1,000. Storage Explorer sends 0: an empty page. */
export const top: Param<number> = {
  sources: ["?$top"],
  parse: (reader) => {
    const text = reader.query("$top");
    if (text === undefined || text === "") return ok(pageRowsMax);
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return count <= pageRowsMax ? ok(count) : fail("InvalidInput");
  },
};

/** The properties that a response contains; undefined for all: `$select` is absent, empty or
 *  `*`. */
export const select: Param<readonly string[] | undefined> = {
  sources: ["?$select"],
  parse: (reader) => {
    const names = (reader.query("$select") ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    if (names.length === 0 || names.includes("*")) return ok(undefined);
    const unique = [...new Set(names)];
    return unique.length > selectedMax ? fail("InvalidInput") : ok(unique);
  },
};

/** Reads one entity by its keys. learn.microsoft.com/rest/api/storageservices/query-entities */
export const getEntity = operation({
  name: "Query Entities",
  ids: ["Table_QueryEntityWithPartitionAndRowKey"],
  route: { method: "GET", resource: "entity" },
  params: { representation, select, timeout },
  permission: { letters: "r", resourceType: "o" },
  ...propertiesRead,
  lease: "none",
  decide: ({ address, scope, target, input, account, endpoint }) => {
    const { partitionKey, rowKey } = keysOf(address);
    const { representation: format, select: names } = input;
    const { name: table } = scope.table;
    const options = { format, table, account, endpoint, select: names };
    const row = { partitionKey, rowKey, record: target };
    return { headers: odataHeaders, body: renderEntity(row, options) };
  },
});

/** Reads a page of the entities that match a filter.
 *  learn.microsoft.com/rest/api/storageservices/query-entities */
export const queryEntities = operation({
  name: "Query Entities",
  ids: ["Table_QueryEntities"],
  route: { method: "GET", resource: "entities" },
  params: { representation, filter, select, top, nextEntity, timeout },
  permission: { letters: "r", resourceType: "o" },
  target: "optional",
  ...noETag,
  largeResponse: true,
  reads: (view, { scope, input, entities }) =>
    scanEntities(view, {
      table: scope.table.id,
      filter: input.filter,
      limit: input.top,
      from: input.nextEntity,
      within: entities,
    }),
  decide: ({ address, scope, readResult, input, account, endpoint }) => {
    if (address.isBelowTable === true) return fail("NotImplemented");
    const { name: table } = scope.table;
    const { representation: format, select: names } = input;
    const options = { format, table, account, endpoint, select: names };
    const next = readResult.next && {
      "x-ms-continuation-NextPartitionKey": formatToken(readResult.next.partitionKey),
      "x-ms-continuation-NextRowKey": formatToken(readResult.next.rowKey),
    };
    return {
      headers: { ...odataHeaders, ...next },
      body: renderEntities(readResult.rows, options),
    };
  },
});
