import { compareKeys, encodeKey, successor } from "../../encoding/keys.ts";
import type { DefinedTable } from "../../encoding/table.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";
import { nodes, versions, type NodeRecord } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";

export interface ChildrenWanted {
  readonly directory: bigint;
  /** Folded. */
  readonly prefix: string;
  /** Folded; the first name to list. */
  readonly from: string;
  readonly limit: number;
}

export interface Child {
  readonly folded: string;
  readonly node: NodeRecord;
}

/** Names in a directory, ordered by folded name. */
export async function childrenOf(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenWanted,
): Promise<readonly Child[]> {
  const { epoch } = tree;
  return epoch === undefined
    ? presentChildren(view, tree, wanted)
    : earlierChildren(view, { ...tree, epoch }, wanted);
}

/** The key of the root directory sorts before its children; it is skipped. */
function boundsOf<K, R>(
  table: DefinedTable<K, R>,
  { share }: ShareTree,
  { directory, prefix, from }: ChildrenWanted,
) {
  const within = table.range([share, directory], prefix);
  const named = successor(table.prefix([share, directory, ""]));
  const first = from === "" ? named : table.prefix([share, directory, from]);
  const start = [within.start, named, first].reduce((left, right) =>
    compareKeys(left, right) < 0 ? right : left,
  );
  return { start, end: within.end };
}

/** Key bounds of the present names in a directory. */
export function presentBounds(tree: ShareTree, wanted: ChildrenWanted) {
  return boundsOf(nodes, tree, wanted);
}

async function presentChildren(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenWanted,
): Promise<readonly Child[]> {
  const found: Child[] = [];
  const bounds = { ...presentBounds(tree, wanted), limit: wanted.limit };
  for await (const batch of view.scan(nodes, bounds)) {
    for (const { key, record } of batch) {
      found.push({ folded: nodes.parts(key)[2] as string, node: record });
    }
  }
  return found;
}

/** Merges present records and stored versions. Entries that were created or changed after the
 *  epoch are skipped one by one, so a page costs as much as changed in that directory. */
async function earlierChildren(
  view: RecordView,
  tree: ShareTree & { readonly epoch: number },
  wanted: ChildrenWanted,
): Promise<readonly Child[]> {
  const { epoch } = tree;
  const present = entriesOf(view, nodes, boundsOf(nodes, tree, wanted));
  const kept = entriesOf(view, versions, boundsOf(versions, tree, wanted));
  const found: Child[] = [];
  let [left, right] = [await present.next(), await kept.next()];
  while (found.length < wanted.limit && !(left.done === true && right.done === true)) {
    const useLeft =
      right.done === true || (left.done !== true && comesFirst(left.value[0], right.value[0]));
    const [folded, node] = (useLeft ? left.value : right.value) as Entry;
    const shown = useLeft
      ? node.since <= epoch
      : node.since <= epoch && (node as Kept).until >= epoch;
    if (shown) found.push({ folded, node });
    if (useLeft) left = await present.next();
    else right = await kept.next();
  }
  return found;
}

/** Compares as encoded keys: JavaScript compares strings by UTF-16 code unit. */
function comesFirst(left: string, right: string): boolean {
  return compareKeys(encodeKey([left]), encodeKey([right])) <= 0;
}

type Entry = readonly [folded: string, node: NodeRecord];
type Kept = NodeRecord & { readonly until: number };

async function* entriesOf<K, R extends NodeRecord>(
  view: RecordView,
  table: DefinedTable<K, R>,
  bounds: { readonly start: Uint8Array; readonly end: Uint8Array },
): AsyncGenerator<Entry, undefined> {
  for await (const batch of view.scan(table, bounds)) {
    for (const entry of batch) yield [nameOf(table, entry), entry.record];
  }
  return undefined;
}

function nameOf<K, R>(table: DefinedTable<K, R>, { key }: Scanned<R>): string {
  return table.parts(key)[2] as string;
}
