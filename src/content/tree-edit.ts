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
import { pushMerged, splice, type Span } from "./slices.ts";

/** What a change puts in the place of a span. */
interface Change {
  readonly span: Span;
  readonly insert: readonly Slice[];
}

/** A new tree of these slices, which are many. */
export function buildTree(ledger: NodeReferences, slices: readonly Slice[]): bigint | undefined {
  return growRoot(ledger, writeLeaves(ledger, slices, true));
}

/** Replaces `span` by `insert`. The caller's reference to `root` becomes one to the result, which
 *  is undefined when nothing is left. */
export async function replaceInTree(
  ledger: NodeReferences,
  root: bigint,
  change: Change,
): Promise<bigint | undefined> {
  return growRoot(ledger, await replaceIn(ledger, { id: root, end: Infinity }, change));
}

/** `end` is where the next subtree begins: nothing below the node reaches beyond it. */
async function replaceIn(
  ledger: NodeReferences,
  { id, end }: { id: bigint; end: number },
  change: Change,
): Promise<Child[]> {
  const node = await ledger.takeOver(id);
  const last = end === Infinity;
  if (node.kind === "leaf") {
    return writeLeaves(ledger, splice(node.slices, change.span, change.insert), last);
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
    if (covered && insert.length === 0) await ledger.release(child.id);
    else
      changed.push(
        ...(await replaceIn(ledger, { id: child.id, end: childEnd }, { ...change, insert })),
      );
  }
  let all = [...children.slice(0, from), ...changed, ...children.slice(to)];
  if (changed.length > 1)
    all = await mergeIfSmall(ledger, all, { index: from + changed.length - 1, last });
  if (changed.length > 0) all = await mergeIfSmall(ledger, all, { index: from, last });
  return writeInner(ledger, all, last);
}

/** A node that lost most of its entries joins its neighbour. The last one of a tree is left alone:
 *  it is small because it is about to grow. */
async function mergeIfSmall(
  ledger: NodeReferences,
  children: Child[],
  { index, last }: { index: number; last: boolean },
): Promise<Child[]> {
  const child = children[index];
  const node = child === undefined ? undefined : ledger.fresh(child.id);
  if (node === undefined || children.length < 2 || nodeCost(node) >= nodeBytesMin) return children;
  if (last && index === children.length - 1) return children;
  const start = Math.max(0, index - 1);
  const left = await ledger.takeOver((children[start] as Child).id);
  const right = await ledger.takeOver((children[start + 1] as Child).id);
  const joined = writeJoined(ledger, left, right);
  return [...children.slice(0, start), ...joined, ...children.slice(start + 2)];
}

function writeJoined(ledger: NodeReferences, left: Node, right: Node): Child[] {
  if (left.kind === "inner" && right.kind === "inner") {
    return writeInner(ledger, [...left.children, ...right.children], false);
  }
  if (left.kind !== "leaf" || right.kind !== "leaf") throw new Error("a content tree is uneven");
  const slices = [...left.slices];
  for (const slice of right.slices) pushMerged(slices, slice);
  return writeLeaves(ledger, slices, false);
}

function writeLeaves(ledger: NodeReferences, slices: readonly Slice[], packed: boolean): Child[] {
  const groups = cutByCost(slices, sliceCost, { costMax: nodeBytesMax, packed });
  return groups.map((group) => ({
    first: (group[0] as Slice).at,
    id: ledger.create({ kind: "leaf", slices: group }),
  }));
}

function writeInner(ledger: NodeReferences, children: readonly Child[], packed: boolean): Child[] {
  const groups = cutByCost(children, costOfChild, { costMax: nodeBytesMax, packed });
  return groups.map((group) => ({
    first: (group[0] as Child).first,
    id: ledger.create({ kind: "inner", children: group }),
  }));
}

/** Adds levels until one node is left, or takes away those with a single child. */
function growRoot(ledger: NodeReferences, level: readonly Child[]): bigint | undefined {
  let children = level;
  while (children.length > 1) children = writeInner(ledger, children, true);
  let root = children[0]?.id;
  while (root !== undefined) {
    const node = ledger.fresh(root);
    if (node?.kind !== "inner" || node.children.length > 1) break;
    ledger.dissolve(root);
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
