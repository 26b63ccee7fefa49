import { newXmlBody } from "../../encoding/xml-body.ts";
import { renderTags } from "../list/blob-entry.ts";
import { operation } from "../resources.ts";
import { putAddressed } from "../shared/overwrite.ts";
import { invalidXmlNode, missingXmlNode } from "../../protocol/faults.ts";
import { fail, type Result } from "../../protocol/result.ts";
import { checkTags, type Tags } from "../../protocol/tags.ts";
import { invalidXmlAt, xmlChild, xmlChildText, type XmlElement } from "../../encoding/xml.ts";
import { blobRead } from "../blob-policy.ts";

/** Get Blob Tags and Set Blob Tags. Tags are indexed, so that `find-blobs.ts` finds blobs by
 *  them. */

/** Returns all tags of a blob, snapshot or version.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-tags */
export const getBlobTags = operation({
  name: "Get Blob Tags",
  ids: ["Blob_GetTags"],
  route: { method: "GET", resource: "blob", query: { comp: "tags" } },
  since: "2019-12-12",
  permission: { letters: "t", resourceType: "o" },
  target: "must-exist",
  conditions: "tags",
  lease: "match-if-given",
  etag: "none",
  policy: { ...blobRead.policy, clientKey: "none" },
  decide: ({ target }) => ({ body: newXmlBody(renderTags(target.tags ?? {})) }),
});

/** Limit of this server for the request body: far more than the ten tags that Azure allows. */
const tagsBytesMax = 64 * 1024;

/** Parses `<Tags><TagSet><Tag><Key/><Value/></Tag>…</TagSet></Tags>`; an empty set removes all
 *  tags. */
function parseTagsBody(root: XmlElement | undefined): Result<Tags> {
  if (root === undefined) return fail("InvalidXmlDocument");
  if (root.name !== "Tags") return invalidXmlAt(root.start, "");
  const set = xmlChild(root, "TagSet");
  if (set === undefined) return missingXmlNode("TagSet");
  const pairs: (readonly [string, string])[] = [];
  for (const tag of set.children) {
    if (tag.name !== "Tag") return invalidXmlNode(tag.name, tag.text);
    const key = xmlChildText(tag, "Key");
    if (key === undefined) return missingXmlNode("Key");
    pairs.push([key, xmlChildText(tag, "Value") ?? ""]);
  }
  return checkTags(pairs);
}

/** Replaces all tags of a blob or a version. The ETag does not change.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-tags */
export const setBlobTags = operation({
  name: "Set Blob Tags",
  ids: ["Blob_SetTags"],
  route: { method: "PUT", resource: "blob", query: { comp: "tags" } },
  since: "2019-12-12",
  body: { kind: "xml", bytesMax: tagsBytesMax, parse: parseTagsBody },
  permission: { letters: "t", resourceType: "o" },
  target: "must-exist",
  conditions: "tags",
  lease: "match-if-leased",
  etag: "none",
  policy: {
    content: "none",
    generations: "versions",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
    event: "SetBlobTags",
  },
  status: 204,
  decide: (context) => {
    const { target, input } = context;
    const tags = Object.keys(input.body).length === 0 ? undefined : input.body;
    return putAddressed(context, { ...target, tags });
  },
});
