import { formatMarker } from "../../operation/listing.ts";
import { noBody } from "../../operation/operation.ts";
import { PagedText } from "../../encoding/paged-text.ts";
import { xmlListBody } from "../../encoding/xml-body.ts";
import { startTag, textElement } from "../../encoding/xml-writer.ts";
import { isHierarchical, operation } from "../resources.ts";
import { listTree } from "../tree/list-tree.ts";
import { renderEntry } from "./blob-entry.ts";
import { checkList, entryOptions, listParams, selectionOf } from "./list-request.ts";
import { isPlainListing, plainPage } from "./plain-page.ts";
import { scanBlobs, type ListEntry } from "./scan-blobs.ts";

/** Lists blobs: all of them or, with a delimiter, those of one level of the hierarchy of names.
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
  params: listParams,
  body: noBody,
  permission: { letters: "l", resourceType: "c", publicRead: "container", posix: {} },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  largeResponse: true,
  success: { status: 200, headers: [] },
  reads: async (view, { target, input, now, features, scope, aclCaller }) => {
    const options = entryOptions(input, { now, features, scope });
    const entries = new PagedText();
    const selection = selectionOf(target.id, input, aclCaller);
    const append = (text: string) => entries.append(text);
    const emit = (entry: ListEntry) => append(renderEntry(entry, options));
    const scan = isHierarchical(scope) ? listTree : scanBlobs;
    const { next, isDenied } =
      scan === scanBlobs && isPlainListing(selection)
        ? await plainPage(view, selection, options, append)
        : await scan(view, selection, emit);
    return { next, entries, isDenied };
  },
  decide: ({ input, readResult, endpoint, address, scope }) => {
    const allowed = checkList(input, scope, readResult.isDenied);
    if (!allowed.ok) return allowed;
    const head =
      textElement("Prefix", input.prefix) +
      textElement("Marker", input.marker && formatMarker(input.marker)) +
      textElement("MaxResults", input.maxResults) +
      textElement("Delimiter", input.delimiter);
    const tail = textElement(
      "NextMarker",
      readResult.next === undefined ? "" : formatMarker(readResult.next),
    );
    const names = { ServiceEndpoint: `${endpoint}/`, ContainerName: address.container };
    const before = startTag("EnumerationResults", names) + head;
    const after = `${tail}</EnumerationResults>`;
    return { body: xmlListBody({ before, name: "Blobs", entries: readResult.entries, after }) };
  },
});
