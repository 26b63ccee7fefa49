import { noBody } from "../../core/operation.ts";
import { operation } from "../resources.ts";
import { blobHeaders } from "../shared/http-headers.ts";

/** Any one of the six headers replaces all six.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-properties */
export const setBlobProperties = operation({
  name: "Set Blob Properties",
  ids: ["Blob_SetHTTPHeaders"],
  route: { method: "PUT", resource: "blob", query: { comp: "properties" } },
  since: "2009-09-19",
  params: { headers: blobHeaders },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  success: { status: 200, headers: [] },
  decide: ({ target, input }) => {
    const given = Object.values(input.headers).some((value) => value !== undefined);
    return { put: given ? { ...target, headers: input.headers } : target };
  },
});
