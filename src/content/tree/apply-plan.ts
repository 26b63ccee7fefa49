import { ensure } from "../../protocol/result.ts";
import type { LoopShare } from "../../base/loop-share.ts";
import type { Awaitable } from "../../base/awaitable.ts";
import { firstWhere } from "../../base/search.ts";
import {
  editedLength,
  inlineWholeBytesMax,
  partLength,
  plannedLength,
  type ContentEdit,
  type ContentPlan,
  type ContentRef,
  type Slice,
} from "../content-ref.ts";
import type { Key, Transaction } from "../../store/store.ts";
import type { IdAllocator } from "../extents/ids.ts";
import { NodeReferences } from "./node-references.ts";
import {
  costOfChild,
  cutByCost,
  nodeBytesMax,
  nodeBytesMin,
  nodeCost,
  sliceCost,
  slicesInRecord,
  type Child,
  type Node,
} from "./node.ts";
import {
  bytesByExtent,
  endOf,
  partsPerStepMax,
  pushMerged,
  replaceSpan,
  slicesOfManyParts,
  slicesOfParts,
  type Span,
} from "./slices.ts";
import { ownerDigest, recordOwnerKey } from "../tables.ts";

/** Applies the plan of a decision (`content/content-ref.ts`) to the content of a record, inside the
 *  transaction that writes the record: `ContentStore.applyPlan`. Small content becomes part of the
 *  record. Large content becomes a tree of content nodes; an edit replaces only the changed path of
 *  it, because snapshots share the other nodes. */

/** Content with more slices (references to ranges of extents) than this, or with longer encoded
 *  ones, is stored as a tree: each write of a record writes all slices in it. */
const slicesInRecordMax = 32;
const slicesInRecordBytesMax = 6144;

/** Content while several edits are applied to it; its length is known only at the end. */
type Draft =
  | { readonly kind: "slices"; readonly slices: readonly Slice[] }
  | { readonly kind: "tree"; readonly root: bigint };

/** A change of the content of the record with the key `owner`. `before` is undefined for a new
 *  record, `plan` for a deleted one. */
interface ContentChange {
  readonly owner: Key;
  readonly before: ContentRef | undefined;
  readonly plan: ContentPlan | undefined;
}

interface PlanParts {
  readonly ids: IdAllocator;
  readonly loop: LoopShare;
}

/** Applies a plan in the transaction that writes the record, and returns the reference to store in
 *  it. Synchronous if the content is inline before and after: then no reference changes. */
export function applyPlan(
  tx: Transaction,
  parts: PlanParts,
  change: ContentChange,
): Awaitable<ContentRef | undefined> {
  const { before, plan } = change;
  if (before === undefined || before.kind === "inline") {
    if (plan === undefined) return undefined;
    const inline = inlineContentOf(plan);
    if (inline !== undefined) return inline;
  }
  return applyWithReferences(tx, parts, change);
}

/** The content that a plan makes, if it is stored in the record as bytes; otherwise undefined. */
function inlineContentOf(plan: ContentPlan): ContentRef | undefined {
  if (plan.plan === "share") return plan.ref.kind === "inline" ? plan.ref : undefined;
  if (plan.plan === "edit" || plan.parts.length > slicesInRecordMax) return undefined;
  const only = plan.parts.length === 1 ? plan.parts[0] : undefined;
  const piece = only?.pieces.length === 1 && only.block === undefined ? only.pieces[0] : undefined;
  if (piece !== undefined && "bytes" in piece.source && piece.source.cipher === undefined) {
    const { length, source } = piece;
    if (length <= inlineWholeBytesMax) return { kind: "inline", length, bytes: source.bytes };
  }
  const slices = slicesOfParts(plan.parts, 0);
  return inlineRefOf(slices, lengthOf(slices));
}

async function applyWithReferences(
  tx: Transaction,
  { ids, loop }: PlanParts,
  { owner, before, plan }: ContentChange,
): Promise<ContentRef | undefined> {
  const references = new NodeReferences(tx, ids, loop);
  const after = plan === undefined ? undefined : await resolvePlan(references, before, plan);
  if (before?.kind === "tree" && !keepsTree(before, plan)) await references.release(before.root);
  const slicesBefore = before === undefined ? [] : slicesInRecord(before);
  const slicesAfter = after === undefined ? [] : slicesInRecord(after);
  if (after !== undefined) ensureWhole(plan, after, slicesAfter);
  references.count(slicesBefore, -1);
  references.count(slicesAfter, 1);
  updateOwnerIndex(tx, owner, slicesBefore, slicesAfter);
  const finished = references.finish();
  if (finished !== undefined) await finished;
  return after;
}

/** Throws unless new content is as long as its parts together, and its slices are in order and
 *  within it: a bug here would lose bytes. */
function ensureWhole(
  plan: ContentPlan | undefined,
  { length }: ContentRef,
  slices: readonly Slice[],
): void {
  if (plan?.plan === "compose") {
    const sum = plannedLength(plan);
    ensure(sum === length, () => `content of ${length} bytes was made of ${sum} bytes`);
  }
  let end = 0;
  for (const slice of slices) {
    ensure(
      slice.at >= end,
      () => `a slice at ${slice.at} overlaps the one before, which ends at ${end}`,
    );
    end = slice.at + slice.length;
  }
  ensure(end <= length, () => `slices of content of ${length} bytes end at ${end}`);
}

/** Whether the plan shares or edits the tree that the record already refers to: then the reference
 *  of the record to that tree remains. */
function keepsTree(before: ContentRef & { kind: "tree" }, plan: ContentPlan | undefined): boolean {
  if (plan?.plan === "share") return isTree(plan.ref, before.root);
  return plan?.plan === "edit" && isTree(plan.base, before.root);
}

function isTree(ref: ContentRef | undefined, root: bigint): boolean {
  return ref?.kind === "tree" && ref.root === root;
}

async function resolvePlan(
  references: NodeReferences,
  before: ContentRef | undefined,
  plan: ContentPlan,
): Promise<ContentRef> {
  if (plan.plan === "compose") {
    const { parts } = plan;
    const isLong = parts.length > partsPerStepMax;
    const slices = isLong
      ? await slicesOfManyParts(references.loop, parts)
      : slicesOfParts(parts, 0);
    return toRef(references, { kind: "slices", slices }, lengthOf(slices));
  }
  const base = plan.plan === "share" ? plan.ref : plan.base;
  if (base.kind === "tree" && !isTree(before, base.root)) await references.retain(base.root);
  if (plan.plan === "share") return base;
  let draft: Draft = base.kind === "tree" ? base : { kind: "slices", slices: slicesInRecord(base) };
  let length = base.length;
  for (const edit of plan.edits) {
    const grows = edit.edit === "resize" && edit.length >= length;
    if (!grows) draft = await applyEdit(references, draft, edit);
    length = editedLength(length, edit);
  }
  return toRef(references, draft, length);
}

/** The length of content that ends with its last slice. */
function lengthOf(slices: readonly Slice[]): number {
  const last = slices.at(-1);
  return last === undefined ? 0 : endOf(last);
}

async function applyEdit(
  references: NodeReferences,
  draft: Draft,
  edit: ContentEdit,
): Promise<Draft> {
  const insert = edit.edit === "write" ? slicesOfParts([edit.part], edit.at) : [];
  const span = spanOf(edit);
  if (span.from === span.to) return draft;
  if (draft.kind === "slices")
    return { kind: "slices", slices: replaceSpan(draft.slices, span, insert) };
  const root = await replaceInTree(references, draft.root, { span, insert });
  return root === undefined ? { kind: "slices", slices: [] } : { kind: "tree", root };
}

function spanOf(edit: ContentEdit): Span {
  switch (edit.edit) {
    case "write":
      return { from: edit.at, to: edit.at + partLength(edit.part) };
    case "clear":
      return { from: edit.at, to: edit.at + edit.length };
    case "resize":
      return { from: edit.length, to: Infinity };
    default:
      return edit satisfies never;
  }
}

function toRef(references: NodeReferences, draft: Draft, length: number): ContentRef {
  if (draft.kind === "tree") return shrinkToRecord(references, draft.root, length);
  const { slices } = draft;
  const inline = inlineRefOf(slices, length);
  if (inline !== undefined) return inline;
  if (fitsRecord(slices)) return { kind: "slices", length, slices };
  const root = buildTree(references, slices);
  return root === undefined
    ? { kind: "slices", length, slices: [] }
    : { kind: "tree", length, root };
}

/** Stores a tree that became small as slices in the record again. Its limit is half of
 *  `slicesInRecordMax`, so that content does not alternate between both forms. */
function shrinkToRecord(references: NodeReferences, root: bigint, length: number): ContentRef {
  const node = references.createdNode(root);
  const isSmall =
    node?.kind === "leaf" &&
    node.slices.length <= slicesInRecordMax / 2 &&
    nodeCost(node) <= slicesInRecordBytesMax / 2;
  if (!isSmall) return { kind: "tree", length, root };
  references.discard(root);
  return { kind: "slices", length, slices: node.slices };
}

function fitsRecord(slices: readonly Slice[]): boolean {
  if (slices.length > slicesInRecordMax) return false;
  let cost = 0;
  for (const slice of slices) cost += sliceCost(slice);
  return cost <= slicesInRecordBytesMax;
}

function inlineRefOf(slices: readonly Slice[], length: number): ContentRef | undefined {
  const bytes = inlineBytesOf(slices, length);
  return bytes && { kind: "inline", length, bytes };
}

/** The bytes of small content whose slices are all inline; `undefined` if it is too long, or if
 *  holes, block ids or encryption would be lost. */
function inlineBytesOf(slices: readonly Slice[], length: number): Uint8Array | undefined {
  if (length > inlineWholeBytesMax || slices.length > slicesInRecordMax) return undefined;
  let end = 0;
  for (const slice of slices) {
    const isNotPlain = slice.block !== undefined || slice.at !== end || !("bytes" in slice.source);
    if (isNotPlain || slice.source.cipher !== undefined) return undefined;
    end = endOf(slice);
  }
  if (end !== length) return undefined;
  const only = slices.length === 1 ? slices[0]?.source : undefined;
  if (only !== undefined && "bytes" in only) return only.bytes;
  const bytes = new Uint8Array(length);
  for (const { at, source } of slices) if ("bytes" in source) bytes.set(source.bytes, at);
  return bytes;
}

function updateOwnerIndex(
  tx: Transaction,
  owner: Key,
  before: readonly Slice[],
  after: readonly Slice[],
): void {
  const extentsBefore = bytesByExtent(before);
  const extentsAfter = bytesByExtent(after);
  if (extentsBefore.size + extentsAfter.size === 0) return;
  const digest = ownerDigest(owner);
  for (const extent of extentsBefore.keys()) {
    if (!extentsAfter.has(extent)) tx.delete(recordOwnerKey(extent, digest));
  }
  for (const extent of extentsAfter.keys()) {
    if (!extentsBefore.has(extent)) tx.put(recordOwnerKey(extent, digest), owner);
  }
}

/** An edit of a tree: `insert` replaces everything in `span`. */
interface Change {
  readonly span: Span;
  readonly insert: readonly Slice[];
}

function buildTree(references: NodeReferences, slices: readonly Slice[]): bigint | undefined {
  return growRoot(references, writeLeaves(references, slices, true));
}

/** Replaces `span` by `insert` and returns the new root, to which the caller's reference to `root`
 *  passes; `undefined` if no slices are left. */
async function replaceInTree(
  references: NodeReferences,
  root: bigint,
  change: Change,
): Promise<bigint | undefined> {
  return growRoot(references, await replaceIn(references, { id: root, end: Infinity }, change));
}

/** Replaces the span below one node, and returns the nodes that take its place. `end` is where the
 *  next subtree starts: no slice below the node extends beyond it. */
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
  const afterStart = firstWhere(children, ({ first }) => first > change.span.from);
  const from = Math.max(0, afterStart - 1);
  const afterEnd = firstWhere(children, ({ first }) => first >= change.span.to);
  const to = Math.max(from + 1, afterEnd);
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

/** Merges a node that became small with its neighbour, so that many deletions leave no tree of tiny
 *  nodes. The last node stays as it is: later appends fill it. */
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

/** Makes a tree of the nodes of one level and returns its root: adds levels above until one node is
 *  left, and removes top levels that have a single child. `undefined` without nodes. */
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
