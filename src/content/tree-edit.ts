import type { Slice } from "./content-ref.ts";
import type { NodeReferences } from "./node-references.ts";
import {
  costOfChild,
  cutByCost,
  nodeBytesMax,
  nodeBytesMin,
  nodeCost,
  sliceCost,
  type Child,
  type Node,
} from "./node.ts";
import { pushMerged, replaceSpan, type Span } from "./slices.ts";

/** Replacement of a span by slices. */
interface Change {
  readonly span: Span;
  readonly insert: readonly Slice[];
}

/** Builds a tree of many slices. */
export function buildTree(
  references: NodeReferences,
  slices: readonly Slice[],
): bigint | undefined {
  return growRoot(references, writeLeaves(references, slices, true));
}

/** Replaces `span` by `insert`. The caller's reference to `root` becomes a reference to the result,
 *  which is `undefined` if no slices are left. */
export async function replaceInTree(
  references: NodeReferences,
  root: bigint,
  change: Change,
): Promise<bigint | undefined> {
  return growRoot(references, await replaceIn(references, { id: root, end: Infinity }, change));
}

/** `end` is the start of the next subtree: no slice below the node extends beyond it. */
async function replaceIn(
  references: NodeReferences,
  { id, end }: { id: bigint; end: number },
  change: Change,
): Promise<Child[]> {
  const node = await references.takeOver(id);
  const last = end === Infinity;
  if (node.kind === "leaf") {
    return writeLeaves(references, replaceSpan(node.slices, change.span, change.insert), last);
  }
  const { children } = node;
  const from = Math.max(0, countBefore(children, ({ first }) => first <= change.span.from) - 1);
  const to = Math.max(
    from + 1,
    countBefore(children, ({ first }) => first < change.span.to),
  );
  const changed: Child[] = [];
  for (let index = from; index < to; index += 1) {
    const child = children[index] as Child;
    const childEnd = children[index + 1]?.first ?? end;
    const insert = index === from ? change.insert : [];
    const covered = change.span.from <= child.first && childEnd <= change.span.to;
    if (covered && insert.length === 0) await references.release(child.id);
    else
      changed.push(
        ...(await replaceIn(references, { id: child.id, end: childEnd }, { ...change, insert })),
      );
  }
  let all = [...children.slice(0, from), ...changed, ...children.slice(to)];
  if (changed.length > 1)
    all = await mergeIfSmall(references, all, { index: from + changed.length - 1, last });
  if (changed.length > 0) all = await mergeIfSmall(references, all, { index: from, last });
  return writeInner(references, all, last);
}

/** Merges a node that became small with its neighbour, unless it is the last node of the tree,
 *  which later appends fill. */
async function mergeIfSmall(
  references: NodeReferences,
  children: Child[],
  { index, last }: { index: number; last: boolean },
): Promise<Child[]> {
  const child = children[index];
  const node = child === undefined ? undefined : references.createdNode(child.id);
  if (node === undefined || children.length < 2 || nodeCost(node) >= nodeBytesMin) return children;
  if (last && index === children.length - 1) return children;
  const start = Math.max(0, index - 1);
  const left = await references.takeOver((children[start] as Child).id);
  const right = await references.takeOver((children[start + 1] as Child).id);
  const joined = writeJoined(references, left, right);
  return [...children.slice(0, start), ...joined, ...children.slice(start + 2)];
}

function writeJoined(references: NodeReferences, left: Node, right: Node): Child[] {
  if (left.kind === "inner" && right.kind === "inner") {
    return writeInner(references, [...left.children, ...right.children], false);
  }
  if (left.kind !== "leaf" || right.kind !== "leaf")
    throw new Error("content tree has leaves at different depths");
  const slices = [...left.slices];
  for (const slice of right.slices) pushMerged(slices, slice);
  return writeLeaves(references, slices, false);
}

function writeLeaves(
  references: NodeReferences,
  slices: readonly Slice[],
  packed: boolean,
): Child[] {
  const groups = cutByCost(slices, sliceCost, { costMax: nodeBytesMax, packed });
  return groups.map((group) => ({
    first: (group[0] as Slice).at,
    id: references.create({ kind: "leaf", slices: group }),
  }));
}

function writeInner(
  references: NodeReferences,
  children: readonly Child[],
  packed: boolean,
): Child[] {
  const groups = cutByCost(children, costOfChild, { costMax: nodeBytesMax, packed });
  return groups.map((group) => ({
    first: (group[0] as Child).first,
    id: references.create({ kind: "inner", children: group }),
  }));
}

/** Adds levels until one node is left, or removes levels with a single child. */
function growRoot(references: NodeReferences, level: readonly Child[]): bigint | undefined {
  let children = level;
  while (children.length > 1) children = writeInner(references, children, true);
  let root = children[0]?.id;
  while (root !== undefined) {
    const node = references.createdNode(root);
    if (node?.kind !== "inner" || node.children.length > 1) break;
    references.discard(root);
    root = node.children[0]?.id;
  }
  return root;
}

function countBefore(children: readonly Child[], holds: (child: Child) => boolean): number {
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(children[middle] as Child)) low = middle + 1;
    else high = middle;
  }
  return low;
}
