import { timeout } from "../../operation/common-params.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import type { RecordView } from "../../operation/view.ts";
import { edm } from "../edm/edm.ts";
import { matches } from "../filter/evaluate.ts";
import type { Filter } from "../filter/tree.ts";
import { odataHeaderNames, odataHeaders } from "../odata-headers.ts";
import { formatToken, nextTable } from "../query/continuation.ts";
import { filter, select, top } from "../query/options.ts";
import { tables } from "../records.ts";
import { renderTable, renderTables } from "../render.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/query-tables */
export const queryTables = operation({
  name: "Query Tables",
  ids: ["Table_Query"],
  route: { method: "GET", resource: "tables" },
  since: "2009-09-19",
  params: { representation, filter, select, top, nextTable, timeout },
  body: noBody,
  permission: { letters: "l", resourceType: "c", sas: "account-only" },
  target: "optional",
  ...noETag,
  effect: "reads",
  success: { status: 200, headers: [...odataHeaderNames, "x-ms-continuation-NextTableName"] },
  reads: (view, { scope, input }) =>
    scanTables(view, {
      account: scope.account.id,
      filter: input.filter,
      limit: input.top,
      from: input.nextTable,
    }),
  decide: ({ readResult: { names, next }, input, account, endpoint }) => {
    const options = { table: "", account, endpoint, select: undefined };
    return {
      headers: {
        ...odataHeaders,
        "x-ms-continuation-NextTableName": next === undefined ? undefined : formatToken(next),
      },
      body: renderTables(names, input.representation, options),
    };
  },
});

/** Returns the entry of one table, as Query Tables returns it for many: `GET /Tables('name')`. */
export const getTable = operation({
  name: "Query Tables",
  ids: ["Table_Query"],
  route: { method: "GET", resource: "table" },
  since: "2009-09-19",
  params: { representation, timeout },
  body: noBody,
  permission: { letters: "l", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  ...noETag,
  effect: "reads",
  success: { status: 200, headers: odataHeaderNames },
  decide: ({ target: { name }, input, account, endpoint }) => ({
    headers: odataHeaders,
    body: renderTable(name, input.representation, {
      table: name,
      account,
      endpoint,
      select: undefined,
    }),
  }),
});

interface Selection {
  readonly account: bigint;
  readonly filter: Filter | undefined;
  readonly limit: number;
  readonly from: string | undefined;
}

const scannedTablesMax = 20_000;

/** Reads one page in key order, which is the order of the lower-case names. */
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
