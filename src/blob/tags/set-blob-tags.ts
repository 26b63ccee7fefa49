import { operation } from "../resources.ts";
import { putAddressed } from "../shared/generation.ts";
import { parseTagsBody, tagsBytesMax } from "./tags-body.ts";

/** Replaces all tags of a blob or a version. The ETag does not change.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-tags */
export const setBlobTags = operation({
  name: "Set Blob Tags",
  ids: ["Blob_SetTags"],
  route: { method: "PUT", resource: "blob", query: { comp: "tags" } },
  since: "2019-12-12",
  params: {},
  body: { kind: "xml", bytesMax: tagsBytesMax, parse: parseTagsBody },
  permission: { letters: "t", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  conditions: "tags",
  lease: "match-if-leased",
  etag: "none",
  effect: "writes",
  policy: { content: "none", generations: "versions", pendingCopy: "reject", clientKey: "none" },
  success: { status: 204, headers: [] },
  decide: (context) => {
    const { target, input } = context;
    const tags = Object.keys(input.body).length === 0 ? undefined : input.body;
    return putAddressed(context, { ...target, tags });
  },
});
