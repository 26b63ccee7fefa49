import { invalidQuery } from "../../core/faults.ts";
import {
  delimiter,
  formatMarker,
  marker,
  maxResults,
  pageSize,
  prefix,
  wordSet,
} from "../../core/listing.ts";
import { noBody } from "../../core/operation.ts";
import { TextBytes } from "../../core/text-bytes.ts";
import { xmlListBody } from "../../core/xml-body.ts";
import { startTag, textElement } from "../../core/xml-writer.ts";
import { operation } from "../resources.ts";
import { renderEntry } from "./blob-entry.ts";
import { scanBlobs, type Listed } from "./scan-blobs.ts";

const include = wordSet(
  "include",
  "snapshots",
  "metadata",
  "uncommittedblobs",
  "copy",
  "deleted",
  "tags",
  "versions",
  "deletedwithversions",
  "immutabilitypolicy",
  "legalhold",
  "permissions",
);

/** Files and directories are the same without a hierarchy: everything is a file. */
const showOnly = wordSet("showonly", "deleted", "files", "directories");

/** Flat, or by hierarchy with a delimiter.
 *  learn.microsoft.com/rest/api/storageservices/list-blobs */
export const listBlobs = operation({
  name: "List Blobs",
  ids: ["Container_ListBlobFlatSegment", "Container_ListBlobHierarchySegment"],
  route: {
    method: ["GET", "HEAD"],
    resource: "container",
    query: { restype: "container", comp: "list" },
  },
  since: "2009-09-19",
  params: { prefix, delimiter, marker, maxResults, include, showOnly },
  body: noBody,
  permission: { letters: "l", resourceType: "c", publicRead: "container" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  success: { status: 200, headers: [] },
  reads: async (view, { target, input, now, features }) => {
    const asked = input.include;
    const has = (word: Parameters<NonNullable<typeof asked>["has"]>[0]) =>
      asked?.has(word) ?? false;
    const options = {
      now,
      metadata: has("metadata"),
      copy: has("copy"),
      tags: has("tags"),
      versions: has("versions"),
      immutability: has("immutabilitypolicy"),
      legalHold: has("legalhold"),
      features,
    };
    const selection = {
      container: target.id,
      prefix: input.prefix ?? "",
      delimiter: input.delimiter ?? "",
      from: input.marker,
      limit: pageSize(input.maxResults),
      snapshots: has("snapshots"),
      versions: has("versions"),
      deleted: has("deleted"),
      deletedWithVersions: has("deletedwithversions"),
      onlyDeleted: input.showOnly?.has("deleted") ?? false,
      uncommitted: has("uncommittedblobs"),
    };
    const entries = new TextBytes();
    const emit = (entry: Listed) => entries.append(renderEntry(entry, options));
    const { next } = await scanBlobs(view, selection, emit);
    return { next, entries: entries.bytes() };
  },
  decide: ({ input, seen, endpoint, address }) => {
    if (input.delimiter !== undefined && input.include?.has("snapshots") === true) {
      return invalidQuery("delimiter", input.delimiter);
    }
    const head =
      textElement("Prefix", input.prefix) +
      textElement("Marker", input.marker && formatMarker(input.marker)) +
      textElement("MaxResults", input.maxResults) +
      textElement("Delimiter", input.delimiter);
    const tail = textElement("NextMarker", seen.next === undefined ? "" : formatMarker(seen.next));
    const names = { ServiceEndpoint: `${endpoint}/`, ContainerName: address.container };
    const before = startTag("EnumerationResults", names) + head;
    const after = `${tail}</EnumerationResults>`;
    return { body: xmlListBody({ before, name: "Blobs", entries: seen.entries, after }) };
  },
});
