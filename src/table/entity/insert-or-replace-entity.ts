import { timeout } from "../../operation/common-params.ts";
import { odataHeaderNames, unconditional } from "../odata-headers.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { entityBody } from "./body.ts";
import { checkUpsert, replaceProperties } from "./change-entity.ts";

/** Update Entity without If-Match: creates or replaces unconditionally; the last writer wins.
 *  learn.microsoft.com/rest/api/storageservices/insert-or-replace-entity */
export const insertOrReplaceEntity = operation({
  name: "Insert Or Replace Entity",
  ids: ["Table_InsertOrReplaceEntity"],
  route: { method: "PUT", resource: "entity", headers: { "if-match": false } },
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
    return allowed.ok ? replaceProperties(context) : allowed;
  },
});
