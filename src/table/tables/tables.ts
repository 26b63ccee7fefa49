import { noETag } from "../../operation/operation.ts";
import { timeout } from "../../operation/common-params.ts";
import { checkTableName } from "../../protocol/names.ts";
import { odataHeaders, prefer, representation } from "../representation.ts";
import { renderTable, renderTables } from "../render.ts";
import { operation } from "../resources.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { readAtomEntity } from "../atom/atom.ts";
import { edm } from "../edm/edm.ts";
import { decodeText, malformedEntity } from "../entity/entity-input.ts";
import { parseFlatJson } from "../json/flat-json.ts";
import type { RecordView } from "../../operation/view.ts";
import { matches } from "../filter/evaluate.ts";
import type { Filter } from "../filter/parse-filter.ts";
import { formatToken, nextTable, filter, select, top } from "../query/query-entities.ts";
import { tables, nameKeyOf } from "../records.ts";
import {
  accessPoliciesBytesMax,
  parseAccessPolicies,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { reserveName } from "../../account/deleted-names.ts";
import { reclaimOwned } from "../../operation/effects.ts";

/** The operations on tables: create, list, get, delete, access policies. */

/** Limit of the body of Create Table, which has only the name: ample for its JSON or Atom. */
const tableBodyBytesMax = 64 * 1024;

/** The body of Create Table. Its parsed value is the name of the table. */
const tableBody = {
  kind: "bytes",
  bytesMax: tableBodyBytesMax,
  parse: parseTable,
} as const;

function parseTable(bytes: Uint8Array, contentType: string): Result<string> {
  const text = decodeText(bytes);
  if (text === undefined) return malformedEntity();
  if (contentType.toLowerCase().includes("xml")) return parseAtomTable(text);
  const members = parseFlatJson(text);
  if (members === undefined) return malformedEntity();
  const name = members.find(([own]) => own === "TableName")?.[1];
  if (name === undefined || name === null) return fail("PropertiesNeedValue");
  return typeof name === "string" ? ok(name) : malformedEntity();
}

function parseAtomTable(text: string): Result<string> {
  const entity = readAtomEntity(text);
  if (!entity.ok) return entity;
  const found = entity.value.properties.find(([name]) => name === "TableName");
  if (found === undefined) return fail("PropertiesNeedValue");
  return found[1] === edm.string ? ok(found[2] as string) : malformedEntity();
}

/** Creates an empty table. learn.microsoft.com/rest/api/storageservices/create-table */
export const createTable = operation({
  name: "Create Table",
  ids: ["Table_Create"],
  route: { method: "POST", resource: "tables" },
  params: { representation, prefer, timeout },
  body: tableBody,
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "must-not-exist",
  ...noETag,
  status: 201,
  completeAddress: (address, { body: table }) => {
    return checkTableName(table).ok ? { ...address, table } : address;
  },
  decide: ({ input, newId, account, endpoint }) => {
    const { body: name, prefer: preference } = input;
    const named = checkTableName(name);
    if (!named.ok) return named;
    const put = { id: newId(), name, policies: [] };
    const location = `${endpoint}/Tables('${name}')`;
    const headers = { ...odataHeaders, "Preference-Applied": preference, Location: location };
    if (preference === "return-no-content") {
      return { status: 204, put, headers: { ...headers, DataServiceId: location } };
    }
    const { representation: format } = input;
    const options = { format, table: name, account, endpoint, select: undefined };
    return { put, headers, body: renderTable(name, options) };
  },
});

/** Lists tables by pages, in order of their names.
 *  learn.microsoft.com/rest/api/storageservices/query-tables */
export const queryTables = operation({
  name: "Query Tables",
  ids: ["Table_Query"],
  route: { method: "GET", resource: "tables" },
  params: { representation, filter, select, top, nextTable, timeout },
  permission: { letters: "l", resourceType: "c", sas: "account-only" },
  target: "optional",
  ...noETag,
  reads: (view, { scope, input }) =>
    scanTables(view, {
      account: scope.account.id,
      filter: input.filter,
      limit: input.top,
      from: input.nextTable,
    }),
  decide: ({ readResult: { names, next }, input, account, endpoint }) => {
    const { representation: format } = input;
    const options = { format, table: "", account, endpoint, select: undefined };
    return {
      headers: {
        ...odataHeaders,
        "x-ms-continuation-NextTableName": next === undefined ? undefined : formatToken(next),
      },
      body: renderTables(names, options),
    };
  },
});

/** Returns the entry of one table, as Query Tables returns it for many: `GET /Tables('name')`. */
export const getTable = operation({
  name: "Query Tables",
  ids: ["Table_Query"],
  route: { method: "GET", resource: "table" },
  params: { representation, timeout },
  permission: { letters: "l", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  ...noETag,
  decide: ({ target: { name: table }, input, account, endpoint }) => {
    const { representation: format } = input;
    const options = { format, table, account, endpoint, select: undefined };
    return { headers: odataHeaders, body: renderTable(table, options) };
  },
});

/** The tables of a page: the matches of `filter`, at most `limit`, from the name `from` on. */
interface Selection {
  readonly account: bigint;
  readonly filter: Filter | undefined;
  readonly limit: number;
  readonly from: string | undefined;
}

/** Most tables that one request scans; then the page ends early, with a continuation token. */
const scannedTablesMax = 20_000;

/** Reads one page of tables in key order, which is the order of the lower-case names. */
async function scanTables(
  view: RecordView,
  { account, filter: condition, limit, from }: Selection,
) {
  const names: string[] = [];
  if (limit === 0) return { names, next: undefined };
  const { start, end } = tables.range([account]);
  const first = from === undefined ? start : tables.key({ account, name: from });
  const bounds = { start: first, end, limit: scannedTablesMax + 1 };
  let scanned = 0;
  for await (const batch of view.scan(tables, bounds)) {
    for (const { record } of batch) {
      const { name, isBeingDeleted } = record;
      const pageUpTo = { names, next: name.toLowerCase() };
      if (scanned >= scannedTablesMax) return pageUpTo;
      scanned += 1;
      if (isBeingDeleted === true || !isMatch(name, condition)) continue;
      if (names.length >= limit) return pageUpTo;
      names.push(name);
    }
  }
  return { names, next: undefined };
}

function isMatch(name: string, condition: Filter | undefined): boolean {
  if (condition === undefined) return true;
  const typed = { type: edm.string, value: name };
  return matches(condition, (property) => (property === "TableName" ? typed : undefined));
}

const query = { comp: "acl" };

/** Returns the stored access policies (permissions that a SAS refers to by name) of a table.
 *  learn.microsoft.com/rest/api/storageservices/get-table-acl */
export const getTableAcl = operation({
  name: "Get Table ACL",
  ids: ["Table_GetAccessPolicy"],
  route: { method: ["GET", "HEAD"], resource: "table", query },
  since: "2012-02-12",
  params: { timeout },
  permission: { resourceType: "c", sas: "none" },
  target: "must-exist",
  ...noETag,
  decide: ({ target }) => ({ body: xmlBody(renderAccessPolicies(target.policies)) }),
});

/** Replaces all stored access policies of a table.
 *  learn.microsoft.com/rest/api/storageservices/set-table-acl */
export const setTableAcl = operation({
  name: "Set Table ACL",
  ids: ["Table_SetAccessPolicy"],
  route: { method: "PUT", resource: "table", query },
  since: "2012-02-12",
  params: { timeout },
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseAccessPolicies },
  permission: { resourceType: "c", sas: "none" },
  target: "must-exist",
  missingBefore: { version: "2019-02-02", code: "TableNotFound" },
  ...noETag,
  status: 204,
  decide: ({ target, input }) => ({ put: { ...target, policies: input.body } }),
});

/** The name can be used again at once, unless the account sets `deletedNameSeconds`: keys of
 *  entities begin with the id of their table, so a new table of the same name, which has another
 *  id, never shows entities that a reclaim job has yet to remove.
 *  learn.microsoft.com/rest/api/storageservices/delete-table */
export const deleteTable = operation({
  name: "Delete Table",
  ids: ["Table_Delete"],
  route: { method: "DELETE", resource: "table" },
  params: { representation, timeout },
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  ...noETag,
  isDeletion: true,
  status: 204,
  decide: ({ target, scope, features, now }) => {
    const key = nameKeyOf(scope.account.id, target.name);
    const effects = [reclaimOwned("table", target.id), ...reserveName(features, key, now)];
    return { remove: true, effects, headers: odataHeaders };
  },
});
