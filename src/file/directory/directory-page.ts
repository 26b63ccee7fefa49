import { PagedText } from "../../encoding/paged-text.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";
import { resolveLinks } from "../link/link-names.ts";
import { nodes, type NodeRecord } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";
import { childrenOf, presentBounds, type ChildrenWanted } from "./children.ts";
import { formOf, renderEntry, type EntryOptions } from "./directory-entry.ts";
import { deletePendingFiles } from "./delete-pending-files.ts";

export interface DirectoryPage {
  readonly entries: PagedText;
  /** Folded; the first name of the next page. */
  readonly next: string | undefined;
}

/** One page of a directory listing. */
export async function directoryPage(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenWanted,
  options: EntryOptions,
): Promise<DirectoryPage> {
  const leaving = await deletePendingFiles(view, tree);
  if (tree.epoch === undefined && leaving.size === 0) {
    return presentPage(view, tree, wanted, options);
  }
  const children = await childrenOf(view, tree, { ...wanted, limit: wanted.limit + 1 });
  const shown = await resolveLinks(view, tree, children.slice(0, wanted.limit));
  const entries = new PagedText();
  for (const { node } of shown) {
    if (!leaving.has(node.id)) entries.append(renderEntry(node, options));
  }
  return { entries, next: children[wanted.limit]?.folded };
}

/** The present directory: an entry that was rendered before is not decoded again. */
async function presentPage(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenWanted,
  options: EntryOptions,
): Promise<DirectoryPage> {
  const entries = new PagedText();
  const form = formOf(options);
  let shown = 0;
  const bounds = { ...presentBounds(tree, wanted), limit: wanted.limit + 1 };
  for await (const batch of view.scan(nodes, bounds)) {
    for (const entry of batch) {
      if (shown >= wanted.limit) return { entries, next: nodes.parts(entry.key)[2] as string };
      const text = view.renderCached(entry, form, () => renderOwn(entry, options));
      entries.append(text ?? (await renderLinked(view, tree, entry, options)));
      shown += 1;
    }
  }
  return { entries, next: undefined };
}

/** Undefined for a hard link: its file may change without the link's record. */
function renderOwn({ record }: Scanned<NodeRecord>, options: EntryOptions) {
  if (record.linkTo !== undefined) return undefined;
  return { text: renderEntry(record, options), isCacheable: true };
}

async function renderLinked(
  view: RecordView,
  tree: ShareTree,
  { record }: Scanned<NodeRecord>,
  options: EntryOptions,
): Promise<string> {
  const [child] = await resolveLinks(view, tree, [{ folded: "", node: record }]);
  return renderEntry(child?.node ?? record, options);
}
