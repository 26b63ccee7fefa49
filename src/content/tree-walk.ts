import type { Awaitable } from "../base/awaitable.ts";
import type { ContentRef, Slice } from "./content-ref.ts";
import { decodeNode } from "./node-codec.ts";
import type { Node } from "./node.ts";
import { overlapping, type Span } from "./slices.ts";
import { nodeKey } from "./tables.ts";
import type { Key, Value } from "../store/store.ts";

/** Reads and decodes a content node. */
export type NodeSource = (id: bigint) => Promise<Node>;

/** Reads nodes from one view, which must stay open meanwhile. */
export function nodesOf(view: { get(key: Key): Awaitable<Value | undefined> }): NodeSource {
  return async (id) => {
    const value = await view.get(nodeKey(id));
    if (value === undefined) throw new Error(`content node ${id} is missing`);
    return decodeNode(value);
  };
}

/** The slices that overlap `span`, in order; for a tree, leaf by leaf. */
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

/** The slices of content that is stored in the record; none for a tree. */
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
