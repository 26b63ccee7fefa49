import type { ContentRef, Slice } from "../content-ref.ts";
import type { Awaitable } from "../../base/awaitable.ts";
import { decodeNode } from "./node-codec.ts";
import { overlapping, type Span } from "./slices.ts";
import { nodeKey } from "../tables.ts";
import type { Key, Value } from "../../store/store.ts";

/** Content nodes: how large contents are stored as trees in the key space, and how a tree is read.
 *  `apply-plan.ts` changes trees. `content/reader.ts` and the listings of blocks and pages read
 *  them. */

/** A node of the tree that maps the offsets of a large content to slices (ranges of extents). Nodes
 *  are immutable, except that compaction may change the location of a leaf's bytes. */
export type Node =
  | { readonly kind: "leaf"; readonly slices: readonly Slice[] }
  | { readonly kind: "inner"; readonly children: readonly Child[] };

/** A child of an inner node. `first` is the offset of the first slice below it; all its slices end
 *  before the next child's `first`. */
export interface Child {
  readonly first: number;
  readonly id: bigint;
}

/** Limit of the encoded length of a content node. Smaller than LMDB's limit for values within a
 *  page: longer ones take whole pages of their own. */
export const nodeBytesMax = 3600;
/** A content node that a change makes smaller than this is merged with a neighbour. */
export const nodeBytesMin = nodeBytesMax / 4;

/** Approximate encoded length of a child in an inner node: 8 bytes of id, 5 of its offset. */
const childCost = 13;

/** Approximate encoded length of a node, in bytes: decides when nodes are split or merged. */
export function nodeCost(node: Node): number {
  if (node.kind === "inner") return node.children.length * childCost;
  let cost = 0;
  for (const slice of node.slices) cost += sliceCost(slice);
  return cost;
}

/** Approximate encoded length of a slice, in bytes: exact lengths would cost an encoding. */
export function sliceCost({ length, source, block }: Slice): number {
  const blockCost = block === undefined ? 0 : 1 + block.length;
  const markCost = blockCost + (source.cipher === undefined ? 0 : 13);
  if ("bytes" in source) return 6 + length + markCost;
  return (source.crc64 === undefined ? 15 : 23) + markCost;
}

export function costOfChild(): number {
  return childCost;
}

/** Divides the entries of a node that became too long into groups of cost at most `costMax`. With
 *  `packed` all groups but the last are full, which suits appends; otherwise they have about the
 *  same size, so that each has room to grow. */
export function cutByCost<T>(
  items: readonly T[],
  cost: (item: T) => number,
  { costMax, packed }: { costMax: number; packed: boolean },
): (readonly T[])[] {
  const total = packed ? Infinity : totalCost(items, cost);
  if (total <= costMax) return items.length === 0 ? [] : [items];
  const limit = packed ? costMax : total / Math.ceil(total / costMax);
  const groups: T[][] = [];
  let group: T[] = [];
  let filled = 0;
  for (const item of items) {
    const added = cost(item);
    const over = packed ? filled + added > limit : filled >= limit || filled + added > costMax;
    if (over && group.length > 0) {
      groups.push(group);
      group = [];
      filled = 0;
    }
    group.push(item);
    filled += added;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

function totalCost<T>(items: readonly T[], cost: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += cost(item);
  return total;
}

/** Loads a content node, in a view or, for a download, in a store snapshot of its own. */
export type NodeSource = (id: bigint) => Promise<Node>;

/** Reads a content node that must exist: its parent, a record or a garbage entry refers to it. */
export async function loadNode(
  view: { get(key: Key): Awaitable<Value | undefined> },
  id: bigint,
): Promise<Node> {
  const value = await view.get(nodeKey(id));
  if (value === undefined) throw new Error(`content node ${id} is missing`);
  return decodeNode(value);
}

/** The slices of a content that overlap `span`, in order; a tree is loaded leaf by leaf. */
export async function* walk(
  nodes: NodeSource,
  ref: ContentRef,
  span: Span,
): AsyncGenerator<readonly Slice[], void, undefined> {
  if (ref.kind === "tree") yield* walkSubtree(nodes, ref.root, span);
  else {
    const found = overlapping(slicesInRecord(ref), span);
    if (found.length > 0) yield found;
  }
}

/** The slices that a record itself contains; inline content is one, a tree has none. */
export function slicesInRecord(ref: ContentRef): readonly Slice[] {
  if (ref.kind === "slices") return ref.slices;
  if (ref.kind === "tree" || ref.length === 0) return [];
  return [{ at: 0, length: ref.length, source: { bytes: ref.bytes } }];
}

async function* walkSubtree(
  nodes: NodeSource,
  id: bigint,
  span: Span,
): AsyncGenerator<readonly Slice[], void, undefined> {
  const node = await nodes(id);
  if (node.kind === "leaf") {
    const found = overlapping(node.slices, span);
    if (found.length > 0) yield found;
    return;
  }
  for (const [index, child] of node.children.entries()) {
    const end = node.children[index + 1]?.first ?? Infinity;
    if (child.first < span.to && end > span.from) yield* walkSubtree(nodes, child.id, span);
  }
}
