import { invalidQuery } from "../../protocol/faults.ts";
import {
  delimiter,
  maxResults,
  pageSize,
  pathMarker,
  nameText,
  prefix,
  wordSet,
  formatMarker,
} from "../../operation/listing.ts";
import { query, type InputOf } from "../../protocol/params.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { AccountScope } from "../../account/account-record.ts";
import { isHierarchical, operation } from "../resources.ts";
import { renderEntry, type EntryOptions } from "./blob-entry.ts";
import {
  boundsOf,
  keyOfMarker,
  markerOf,
  scanBlobs,
  type Selection,
  type ListEntry,
  type Page,
} from "./scan-blobs.ts";
import { largeListing } from "../../operation/operation.ts";
import { laterKey } from "../../encoding/keys.ts";
import { PagedText } from "../../encoding/paged-text.ts";
import { xmlListBody } from "../../encoding/xml-body.ts";
import { startTag, textElement } from "../../encoding/xml-writer.ts";
import { listTree } from "../tree/list-tree.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";
import { blobs, isExpired, type BlobRecord } from "../records.ts";

/** List Blobs in XML. The parameters and the selection of entries are also those of the Arrow
 *  format (`list-blobs-arrow.ts`). */

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

/** `showonly`: the kinds of entries to list. On flat accounts every blob counts as a file. */
const showOnly = wordSet("showonly", "deleted", "files", "directories");

/** `startfrom`: the first name to list. Ignored on later pages, which have a marker. */
const startFrom = query("startfrom", nameText);

/** The parameters of List Blobs in both formats, XML and Apache Arrow. */
export const listParams = {
  prefix,
  delimiter,
  marker: pathMarker,
  maxResults,
  include,
  showOnly,
  startFrom,
};

type ListInput = InputOf<typeof listParams>;

/** The entries that a request lists: prefix, delimiter, marker and kinds of blobs. */
export function selectionOf(
  container: bigint,
  input: ListInput,
  caller: AclCaller | undefined,
): Selection {
  const { include: included, startFrom: start } = input;
  return {
    container,
    prefix: input.prefix ?? "",
    delimiter: input.delimiter ?? "",
    from: input.marker ?? (start === undefined ? undefined : [start]),
    limit: pageSize(input.maxResults),
    snapshots: included?.has("snapshots") ?? false,
    versions: included?.has("versions") ?? false,
    deleted: included?.has("deleted") ?? false,
    deletedWithVersions: included?.has("deletedwithversions") ?? false,
    onlyDeleted: input.showOnly?.has("deleted") ?? false,
    uncommitted: included?.has("uncommittedblobs") ?? false,
    kind: kindOf(input.showOnly),
    caller,
  };
}

function kindOf(shown: ListInput["showOnly"]): Selection["kind"] {
  if (shown?.has("files")) return shown.has("directories") ? undefined : "files";
  return shown?.has("directories") ? "directories" : undefined;
}

/** Which properties each entry of a listing has, by the parameters of the request. */
export function entryOptions(
  { include: included }: ListInput,
  { now, features, scope }: Pick<EntryOptions, "now" | "features"> & { scope: AccountScope },
): EntryOptions {
  return {
    now,
    features,
    metadata: included?.has("metadata") ?? false,
    copy: included?.has("copy") ?? false,
    tags: included?.has("tags") ?? false,
    versions: included?.has("versions") ?? false,
    immutability: included?.has("immutabilitypolicy") ?? false,
    legalHold: included?.has("legalhold") ?? false,
    hierarchical: isHierarchical(scope),
    permissions: included?.has("permissions") ?? false,
  };
}

/** Rejects a listing that came upon a directory whose access control list forbids it, or with a
 *  delimiter that is not possible: entries below a prefix are rolled up into the prefix, which
 *  cannot show snapshots, and on hierarchical accounts only the slash ends directories. */
export function checkList(
  { delimiter: delimiterText, include: included }: ListInput,
  scope: AccountScope,
  isDenied: boolean | undefined,
): Result<void> {
  if (isDenied === true) return fail("AuthorizationPermissionMismatch");
  if (delimiterText === undefined) return ok(undefined);
  const endsDirectories = delimiterText === "/" || delimiterText === "" || !isHierarchical(scope);
  const isPossible = endsDirectories && included?.has("snapshots") !== true;
  return isPossible ? ok(undefined) : invalidQuery("delimiter", delimiterText);
}

/** Whether a listing needs only the table of current blobs and has no delimiter, which is the usual
 *  case. */
function isPlainListing(selection: Selection): boolean {
  const { snapshots, versions, deleted, uncommitted } = selection;
  const { deletedWithVersions, onlyDeleted } = selection;
  const hasOthers = snapshots || versions || deleted || deletedWithVersions || onlyDeleted;
  return selection.delimiter === "" && !hasOthers && !uncommitted;
}

/** Does the same as `scanBlobs` for plain listings, faster: it reads one table and uses the cache
 *  of rendered entries, so that an unchanged record is not even decoded. */
async function plainPage(
  view: RecordView,
  selection: Selection,
  options: EntryOptions,
  emit: (text: string) => void,
): Promise<Page> {
  const { container, from, limit } = selection;
  const { start, end } = boundsOf(blobs, selection);
  const first = from === undefined ? start : laterKey(start, keyOfMarker(blobs, container, from));
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

function render(entry: Scanned<BlobRecord>, options: EntryOptions) {
  const { record } = entry;
  if (isExpired(record, options.now)) return undefined;
  const name = blobs.parts(entry.key)[1] as string;
  const text = renderEntry({ kind: "blob", name, record }, options);
  return { text, isCacheable: isTimeless(record) };
}

/** Whether the rendered entry is the same at any later time, so that it can be cached. Leases,
 *  pending tier changes and expiry change with time. */
function isTimeless({ lease, rehydration, expiresAt, deleted }: BlobRecord): boolean {
  return [lease, rehydration, expiresAt, deleted].every((each) => each === undefined);
}

/** The part of the key of cached entries that depends on the request: one bit for each option that
 *  changes a rendered entry. */
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
  params: listParams,
  permission: { letters: "l", resourceType: "c", publicRead: "container", posix: {} },
  ...largeListing,
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
