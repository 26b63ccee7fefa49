import { formatMarker } from "../../operation/listing.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { PagedText } from "../../encoding/paged-text.ts";
import { xmlListBody } from "../../encoding/xml-body.ts";
import { startTag, textElement } from "../../encoding/xml-writer.ts";
import { isHierarchical, operation } from "../resources.ts";
import { listTree } from "../tree/list-tree.ts";
import { renderEntry, type EntryOptions } from "./blob-entry.ts";
import { checkList, entryOptions, listParams, selectionOf } from "./list-request.ts";
import {
  boundsOf,
  keyOfMarker,
  markerOf,
  scanBlobs,
  type ListEntry,
  type Page,
  type Selection,
} from "./scan-blobs.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";
import { blobs, isExpired, type BlobRecord } from "../records.ts";

/** Whether a listing needs only the table of current blobs and has no delimiter, which is the usual
 *  case. */
function isPlainListing(selection: Selection): boolean {
  const { delimiter, snapshots, versions, deleted, uncommitted } = selection;
  const { deletedWithVersions, onlyDeleted } = selection;
  const hasOthers = snapshots || versions || deleted || deletedWithVersions || onlyDeleted;
  return delimiter === "" && !hasOthers && !uncommitted;
}

/** As `scanBlobs`, for plain listings. Reads one table and uses the render cache, so that an
 *  unchanged record is not even decoded. */
async function plainPage(
  view: RecordView,
  selection: Selection,
  options: EntryOptions,
  emit: (text: string) => void,
): Promise<Page> {
  const { container, from, limit } = selection;
  const { start, end } = boundsOf(blobs, selection);
  const first = from === undefined ? start : later(start, keyOfMarker(blobs, container, from));
  const variant = renderVariant(options);
  let emitted = 0;
  // The scan has no limit, because expired blobs are skipped: a page may read more records than it
  // returns.
  for await (const batch of view.scan(blobs, { start: first, end })) {
    for (const entry of batch) {
      const text = view.renderCached(entry, variant, () => render(entry, options));
      if (text === undefined) continue;
      if (emitted >= limit) return { next: markerOf(blobs, entry.key) };
      emit(text);
      emitted += 1;
    }
  }
  return { next: undefined };
}

function later(left: Uint8Array, right: Uint8Array): Uint8Array {
  return Buffer.compare(left, right) < 0 ? right : left;
}

function render(entry: Scanned<BlobRecord>, options: EntryOptions) {
  const { record } = entry;
  if (isExpired(record, options.now)) return undefined;
  const name = blobs.parts(entry.key)[1] as string;
  const text = renderEntry({ kind: "blob", name, record }, options);
  return { text, isCacheable: isTimeless(record) };
}

/** Whether the rendered entry does not depend on the time of the request, so that it can be
 *  cached. */
function isTimeless({ lease, rehydration, expiresAt, deleted }: BlobRecord): boolean {
  return [lease, rehydration, expiresAt, deleted].every((each) => each === undefined);
}

/** The variant for the render cache: one bit for each option that changes a rendered entry. */
function renderVariant(options: EntryOptions): number {
  const { metadata, copy, tags, versions, immutability, legalHold, features } = options;
  const tracked = features.lastAccessTracking;
  const choices = [metadata, copy, tags, versions, immutability, legalHold, tracked];
  return choices.reduce((variant, choice) => variant * 2 + (choice ? 1 : 0), 0);
}

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
  ...noETag,
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
