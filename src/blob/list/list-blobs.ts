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
import { xmlBody } from "../../core/xml-body.ts";
import { element, textElement } from "../../core/xml-writer.ts";
import { operation } from "../resources.ts";
import { renderEntry } from "./blob-entry.ts";
import { scanBlobs } from "./scan-blobs.ts";

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

/** Flat, or by hierarchy with a delimiter. learn.microsoft.com/rest/api/storageservices/list-blobs */
export const listBlobs = operation({
  name: "List Blobs",
  ids: ["Container_ListBlobFlatSegment", "Container_ListBlobHierarchySegment"],
  route: {
    method: ["GET", "HEAD"],
    resource: "container",
    query: { restype: "container", comp: "list" },
  },
  since: "2009-09-19",
  params: { prefix, delimiter, marker, maxResults, include },
  body: noBody,
  permission: { letters: "l", resourceType: "c", publicRead: "container" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  success: { status: 200, headers: [] },
  reads: (view, { target, input }) => {
    const asked = input.include;
    return scanBlobs(view, {
      container: target.id,
      prefix: input.prefix ?? "",
      delimiter: input.delimiter ?? "",
      from: input.marker,
      limit: pageSize(input.maxResults),
      snapshots: asked?.has("snapshots") ?? false,
      versions: (asked?.has("versions") || asked?.has("deletedwithversions")) ?? false,
      deleted: asked?.has("deleted") ?? false,
      uncommitted: asked?.has("uncommittedblobs") ?? false,
    });
  },
  decide: ({ input, seen, now, endpoint, address }) => {
    const asked = input.include;
    if (input.delimiter !== undefined && asked?.has("snapshots") === true) {
      return invalidQuery("delimiter", input.delimiter);
    }
    const options = {
      now,
      metadata: asked?.has("metadata") ?? false,
      copy: asked?.has("copy") ?? false,
      tags: asked?.has("tags") ?? false,
      versions: asked?.has("versions") ?? false,
    };
    let entries = "";
    for (const entry of seen.entries) entries += renderEntry(entry, options);
    const inner =
      textElement("Prefix", input.prefix) +
      textElement("Marker", input.marker && formatMarker(input.marker)) +
      textElement("MaxResults", input.maxResults) +
      textElement("Delimiter", input.delimiter) +
      element("Blobs", entries) +
      textElement("NextMarker", seen.next === undefined ? "" : formatMarker(seen.next));
    const names = { ServiceEndpoint: `${endpoint}/`, ContainerName: address.container };
    return { body: xmlBody(element("EnumerationResults", inner, names)) };
  },
});
