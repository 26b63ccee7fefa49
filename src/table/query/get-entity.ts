import { timeout } from "../../operation/common-params.ts";
import { noBody } from "../../operation/operation.ts";
import { odataHeaderNames, odataHeaders } from "../odata-headers.ts";
import { renderEntity } from "../render.ts";
import { representation } from "../representation.ts";
import { keysOf, operation } from "../resources.ts";
import { select } from "./options.ts";

/** Reads one entity by its keys. learn.microsoft.com/rest/api/storageservices/query-entities */
export const getEntity = operation({
  name: "Query Entities",
  ids: ["Table_QueryEntityWithPartitionAndRowKey"],
  route: { method: "GET", resource: "entity" },
  since: "2009-09-19",
  params: { representation, select, timeout },
  body: noBody,
  permission: { letters: "r", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "keep",
  effect: "reads",
  success: { status: 200, headers: odataHeaderNames },
  decide: ({ address, scope, target, input, account, endpoint }) => {
    const { partitionKey, rowKey } = keysOf(address);
    const { representation: chosen, select: names } = input;
    const options = { table: scope.table.name, account, endpoint, select: names };
    const row = { partitionKey, rowKey, record: target };
    return { headers: odataHeaders, body: renderEntity(row, chosen, options) };
  },
});
