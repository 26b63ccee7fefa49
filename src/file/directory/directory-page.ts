import { spend } from "../../base/loop-share.ts";
import { PagedText } from "../../encoding/paged-text.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";
import { resolveHardLinks } from "../link/hard-link-names.ts";
import { nodes, type NodeRecord } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";
import { childrenOf, currentBounds, type ChildrenRequest } from "./children.ts";
import { optionBits, renderEntry, type EntryOptions } from "./directory-entry.ts";
import { findDeletePending } from "./delete-pending-files.ts";

export interface DirectoryPage {
  readonly entries: PagedText;
  /** Case-folded name of the first entry of the next page; undefined on the last page. */
  readonly next: string | undefined;
}

/** Reads and renders one page of a directory listing. Delete-pending files are omitted after the
 *  limit is applied, so a page may be shorter than `limit`. The cache of rendered entries is used
 *  only if the share has no such file and few open ones: to omit one, its record must be
 *  decoded. */
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
    const wait = spend(1);
    if (wait !== undefined) await wait;
    if ((await isDeletePending?.(node.id)) === true) continue;
    entries.append(renderEntry(node, options));
  }
  return { entries, next: children[wanted.limit]?.folded };
}

/** A page of the current directory, not of a share snapshot. Entries in the cache of rendered
 *  entries are not decoded. */
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

/** Undefined for a hard link: the listing shows the file that it refers to, which can change while
 *  the record of the link does not, so the rendering must not be cached with that record. */
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
