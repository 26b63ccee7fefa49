import { timeout } from "../../operation/common-params.ts";
import { odataHeaderNames, unconditional } from "../odata-headers.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { entityBody } from "./body.ts";
import { checkUpsert, mergeProperties } from "./change-entity.ts";

/** Merge Entity without If-Match: creates or merges unconditionally; the last writer wins.
 *  learn.microsoft.com/rest/api/storageservices/insert-or-merge-entity */
export const insertOrMergeEntity = operation({
  name: "Insert Or Merge Entity",
  ids: ["Table_InsertOrMergeEntity"],
  route: { method: ["MERGE", "PATCH"], resource: "entity", headers: { "if-match": false } },
  since: "2011-08-18",
  params: { representation, unconditional, timeout },
  body: entityBody,
  permission: { letters: "au", needsEveryLetter: true, resourceType: "o" },
  target: "may-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  effect: "writes",
  success: { status: 204, headers: odataHeaderNames },
  decide: (context) => {
    const allowed = checkUpsert(context.version);
    return allowed.ok ? mergeProperties(context) : allowed;
  },
});
