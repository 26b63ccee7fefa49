import { timeout } from "../../operation/common-params.ts";
import { odataHeaderNames } from "../odata-headers.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { entityBody } from "./body.ts";
import { replaceProperties } from "./change-entity.ts";

/** learn.microsoft.com/rest/api/storageservices/update-entity2 */
export const updateEntity = operation({
  name: "Update Entity",
  ids: ["Table_UpdateEntity"],
  route: { method: "PUT", resource: "entity", headers: { "if-match": true } },
  since: "2009-09-19",
  params: { representation, timeout },
  body: entityBody,
  permission: { letters: "u", resourceType: "o" },
  target: "must-exist",
  conditions: "match",
  conditionFaults: { any: "UpdateConditionNotSatisfied" },
  lease: "none",
  etag: "renew",
  effect: "writes",
  success: { status: 204, headers: odataHeaderNames },
  decide: replaceProperties,
});
