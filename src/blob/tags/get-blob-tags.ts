import { noBody } from "../../operation/operation.ts";
import { newXmlBody } from "../../encoding/xml-body.ts";
import { renderTags } from "../list/blob-entry.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/get-blob-tags */
export const getBlobTags = operation({
  name: "Get Blob Tags",
  ids: ["Blob_GetTags"],
  route: { method: "GET", resource: "blob", query: { comp: "tags" } },
  since: "2019-12-12",
  params: {},
  body: noBody,
  permission: { letters: "t", resourceType: "o" },
  target: "must-exist",
  conditions: "tags",
  lease: "match-if-given",
  etag: "none",
  effect: "reads",
  policy: {
    content: "none",
    generations: "any",
    pendingCopy: "allow",
    clientKey: "none",
    event: "none",
  },
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ body: newXmlBody(renderTags(target.tags ?? {})) }),
});
