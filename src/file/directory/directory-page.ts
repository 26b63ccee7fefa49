import { PagedText } from "../../encoding/paged-text.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";
import { resolveHardLinks } from "../link/hard-link-names.ts";
import { locks, nodes, type NodeRecord } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";
import { childrenOf, currentBounds, type ChildrenRequest } from "./children.ts";
import { formatHttpDate, formatIso } from "../../base/dates.ts";
import { bareETag } from "../../protocol/conditions.ts";
import { element, nameElement, textElement } from "../../encoding/xml-writer.ts";
import { formatAttributes } from "../shared/smb-properties.ts";

/** Reads and renders the pages of List Directories and Files. Rendered entries are cached by key
 *  and revision (docs/adr/010-render-cache.md), so that a repeated listing decodes few entries. */

/** One page of List Directories and Files, rendered as XML. */
interface DirectoryPage {
  readonly entries: PagedText;
  /** Case-folded name of the first entry of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

/** Reads and renders one page of a directory listing. Delete-pending files are omitted after the
 *  limit is applied, so a page may be shorter than `limit`. The cache of rendered entries is used
 *  only if the share has no delete-pending file and few open ones, because a file is omitted by its
 *  decoded record. */
export async function directoryPage(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenRequest,
  options: EntryOptions,
): Promise<DirectoryPage> {
  const isDeletePending = await findDeletePending(view, tree);
  if (tree.epoch === undefined && isDeletePending === undefined) {
    return currentPage(view, tree, wanted, options);
  }
  const children = await childrenOf(view, tree, { ...wanted, limit: wanted.limit + 1 });
  const shown = await resolveHardLinks(view, tree, children.slice(0, wanted.limit));
  const entries = new PagedText();
  for (const { node } of shown) {
    const wait = view.loop.spend(1);
    if (wait !== undefined) await wait;
    if ((await isDeletePending?.(node.id)) === true) continue;
    entries.append(renderEntry(node, options));
  }
  return { entries, next: children[wanted.limit]?.folded };
}

/** A page of the current directory, not of a share snapshot. Entries whose XML is in the cache of
 *  rendered entries are not decoded. */
async function currentPage(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenRequest,
  options: EntryOptions,
): Promise<DirectoryPage> {
  const entries = new PagedText();
  const cacheBits = optionBits(options);
  let shown = 0;
  const bounds = { ...currentBounds(tree, wanted), limit: wanted.limit + 1 };
  for await (const batch of view.scan(nodes, bounds)) {
    for (const entry of batch) {
      if (shown >= wanted.limit) return { entries, next: nodes.parts(entry.key)[2] as string };
      const text = view.renderCached(entry, cacheBits, () => renderUnlessHardLink(entry, options));
      entries.append(text ?? (await renderHardLink(view, tree, entry, options)));
      shown += 1;
    }
  }
  return { entries, next: undefined };
}

/** Renders an entry for the cache of rendered entries. Undefined for a hard link: the listing shows
 *  the file that it refers to, which can change while the record of the link does not, so its
 *  rendering must not be cached. */
function renderUnlessHardLink({ record }: Scanned<NodeRecord>, options: EntryOptions) {
  if (record.linkTo !== undefined) return undefined;
  return { text: renderEntry(record, options), isCacheable: true };
}

async function renderHardLink(
  view: RecordView,
  tree: ShareTree,
  { record }: Scanned<NodeRecord>,
  options: EntryOptions,
): Promise<string> {
  const [child] = await resolveHardLinks(view, tree, [{ folded: "", node: record }]);
  return renderEntry(child?.node ?? record, options);
}

/** Open files of a share up to which a listing finds the delete-pending ones by reading all lock
 *  states at once. With more, it reads the lock state of each listed file. */
const openFilesScannedMax = 4096;

/** Tells by the id of a listed file whether it is delete-pending, so that the listing omits it. */
type IsDeletePending = (id: bigint) => Promise<boolean> | boolean;

/** Finds the delete-pending files of a share, which listings omit. Undefined if there are none. The
 *  cost is limited by the number of open files and by `openFilesScannedMax`; a share snapshot has
 *  none. */
async function findDeletePending(
  view: RecordView,
  { share, epoch }: ShareTree,
): Promise<IsDeletePending | undefined> {
  if (epoch !== undefined) return undefined;
  const deletePending = new Set<bigint>();
  let scanned = 0;
  const bounds = { ...locks.range([share]), limit: openFilesScannedMax + 1 };
  for await (const batch of view.scan(locks, bounds)) {
    scanned += batch.length;
    for (const { key, record } of batch) {
      if (record.deletePending) deletePending.add(locks.parts(key)[1] as bigint);
    }
  }
  if (scanned > openFilesScannedMax) {
    return async (id) => (await view.get(locks, { share, id }))?.deletePending === true;
  }
  return deletePending.size === 0 ? undefined : (id) => deletePending.has(id);
}

/** The details that the parameter `include` of List Directories and Files can add to each entry. */
type Detail = "timestamps" | "etag" | "attributes" | "permissionkey";

interface EntryOptions {
  readonly include: ReadonlySet<Detail>;
  readonly version: string;
}

const details: readonly Detail[] = ["timestamps", "etag", "attributes", "permissionkey"];
/** The first x-ms-version whose listings contain the id of each file (`FileId`). */
const idsSince = "2020-10-02";

/** One bit per listing option that changes the rendered entry; part of the key of the cache of
 *  rendered entries. */
function optionBits({ include, version }: EntryOptions): number {
  const choices = [...details.map((detail) => include.has(detail)), version >= idsSince];
  return choices.reduce((bits, choice) => bits * 2 + (choice ? 1 : 0), 0);
}

/** Renders one entry of a directory listing as XML. */
function renderEntry(node: NodeRecord, { include, version }: EntryOptions): string {
  const isDirectory = node.kind === "directory";
  const length = isDirectory ? "" : textElement("Content-Length", node.content?.length ?? 0);
  const times = include.has("timestamps") ? renderTimes(node) : "";
  const etag = include.has("etag") ? textElement("Etag", `"${bareETag(node.etag)}"`) : "";
  return element(
    isDirectory ? "Directory" : "File",
    nameElement("Name", node.name) +
      (version >= idsSince ? textElement("FileId", node.id) : "") +
      element("Properties", length + times + etag) +
      (include.has("attributes")
        ? textElement("Attributes", formatAttributes(node.attributes))
        : "") +
      (include.has("permissionkey") ? textElement("PermissionKey", node.permissionKey) : ""),
  );
}

/** The time elements of an entry. Reads do not update the last access time: unless a client has set
 *  it, the last write time is sent. */
function renderTimes({ created, lastAccess, lastWrite, change, etag }: NodeRecord): string {
  return (
    textElement("CreationTime", formatIso(created)) +
    textElement("LastAccessTime", formatIso(lastAccess ?? lastWrite)) +
    textElement("LastWriteTime", formatIso(lastWrite)) +
    textElement("ChangeTime", formatIso(change)) +
    textElement("Last-Modified", formatHttpDate(etag))
  );
}
