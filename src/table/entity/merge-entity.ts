import { timeout } from "../../operation/common-params.ts";
import { odataHeaderNames } from "../odata-headers.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { entityBody } from "./body.ts";
import { mergeProperties } from "./change-entity.ts";

/** learn.microsoft.com/rest/api/storageservices/merge-entity */
export const mergeEntity = operation({
  name: "Merge Entity",
  ids: ["Table_MergeEntity"],
  route: { method: ["MERGE", "PATCH"], resource: "entity", headers: { "if-match": true } },
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
  decide: mergeProperties,
});
