import { timeout } from "../../operation/common-params.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { odataHeaderNames, odataHeaders } from "../odata-headers.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { renderEntities } from "../render.ts";
import { formatToken, nextEntity } from "./continuation.ts";
import { filter, select, top } from "./options.ts";
import { scanEntities } from "./scan-entities.ts";

/** learn.microsoft.com/rest/api/storageservices/query-entities */
export const queryEntities = operation({
  name: "Query Entities",
  ids: ["Table_QueryEntities"],
  route: { method: "GET", resource: "entities" },
  since: "2009-09-19",
  params: { representation, filter, select, top, nextEntity, timeout },
  body: noBody,
  permission: { letters: "r", resourceType: "o" },
  target: "optional",
  ...noETag,
  effect: "reads",
  largeResponse: true,
  success: {
    status: 200,
    headers: [
      ...odataHeaderNames,
      "x-ms-continuation-NextPartitionKey",
      "x-ms-continuation-NextRowKey",
    ],
  },
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
    const { select: names } = input;
    const next = readResult.next && {
      "x-ms-continuation-NextPartitionKey": formatToken(readResult.next.partitionKey),
      "x-ms-continuation-NextRowKey": formatToken(readResult.next.rowKey),
    };
    return {
      headers: { ...odataHeaders, ...next },
      body: renderEntities(readResult.rows, input.representation, {
        table,
        account,
        endpoint,
        select: names,
      }),
    };
  },
});
