import { timeout } from "../../operation/common-params.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { odataHeaderNames, odataHeaders } from "../odata-headers.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/delete-entity1 */
export const deleteEntity = operation({
  name: "Delete Entity",
  ids: ["Table_DeleteEntity"],
  route: { method: "DELETE", resource: "entity" },
  since: "2009-09-19",
  params: { representation, timeout },
  body: noBody,
  permission: { letters: "d", resourceType: "o" },
  target: "must-exist",
  conditions: "match",
  conditionFaults: { any: "UpdateConditionNotSatisfied" },
  lease: "none",
  etag: "none",
  effect: "writes",
  isDeletion: true,
  success: { status: 204, headers: odataHeaderNames },
  decide: () => ({ remove: true, headers: odataHeaders }),
});

/** Always fails, as recorded from the service. The path continues after the table; clients send it
 *  if their endpoint already includes the table. */
export const rejectDeleteBelowTable = operation({
  name: "Delete Entity",
  ids: [],
  route: { method: "DELETE", resource: "nested" },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "d", resourceType: "o" },
  target: "optional",
  ...noETag,
  effect: "writes",
  isDeletion: true,
  success: { status: 204, headers: [] },
  decide: ({ account, scope }) =>
    fail("InvalidInput", {
      message:
        "The number of keys specified in the URI does not match number of key properties for " +
        `the resource '${account}.${scope.table.name}'.`,
    }),
});
