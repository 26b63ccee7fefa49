import { invalidXmlNode, missingXmlNode } from "../../protocol/faults.ts";
import { fail, type Result } from "../../protocol/result.ts";
import { checkTags } from "../../protocol/tag-set.ts";
import type { Tags } from "../../protocol/tags.ts";
import { invalidXmlAt, xmlChild, xmlChildText, type XmlElement } from "../../encoding/xml.ts";

/** Limit of this server for the request body. */
export const tagsBytesMax = 64 * 1024;

/** Parses `<Tags><TagSet><Tag><Key/><Value/></Tag>…</TagSet></Tags>`; an empty set removes all
 *  tags. */
export function parseTagsBody(root: XmlElement | undefined): Result<Tags> {
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
