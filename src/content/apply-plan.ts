import type { Awaitable } from "../base/awaitable.ts";
import type { ContentEdit, ContentPlan, ContentRef, Slice } from "./content-ref.ts";
import type { Key, Transaction } from "../store/store.ts";
import type { IdAllocator } from "./ids.ts";
import { NodeReferences } from "./node-references.ts";
import { nodeCost, sliceCost } from "./node.ts";
import { partLength } from "./plan.ts";
import {
  bytesByExtent,
  endOf,
  partsPerStepMax,
  slicesOfManyParts,
  slicesOfParts,
  replaceSpan,
  type Span,
} from "./slices.ts";
import { ownerDigest, recordOwnerKey } from "./tables.ts";
import { buildTree, replaceInTree } from "./tree-edit.ts";
import { slicesInRecord } from "./tree-walk.ts";

/** Content with more slices than this, or with longer encoded slices, is stored as a tree. */
export const slicesInRecordMax = 32;
export const slicesInRecordBytesMax = 6144;
/** Content up to this length, without holes and block ids, is stored inline. */
export const inlineContentBytesMax = 4096;

/** Content while edits are applied to it. */
type Draft =
  | { readonly kind: "slices"; readonly slices: readonly Slice[] }
  | { readonly kind: "tree"; readonly root: bigint };

/** A change of the content of the record with the key `owner`. `before` is undefined for a new
 *  record. */
export interface ContentChange {
  readonly owner: Key;
  readonly before: ContentRef | undefined;
  readonly plan: ContentPlan | undefined;
}

/** Applies a plan in the transaction that writes the record, and returns the reference to store in
 *  it. Synchronous if the content is inline before and after: then no reference changes. */
export function applyPlan(
  tx: Transaction,
  ids: IdAllocator,
  change: ContentChange,
): Awaitable<ContentRef | undefined> {
  const { before, plan } = change;
  if (before === undefined || before.kind === "inline") {
    if (plan === undefined) return undefined;
    const inline = inlineContentOf(plan);
    if (inline !== undefined) return inline;
  }
  return applyWithReferences(tx, ids, change);
}

/** The content that a plan makes, if it is inline. */
function inlineContentOf(plan: ContentPlan): ContentRef | undefined {
  if (plan.plan === "share") return plan.ref.kind === "inline" ? plan.ref : undefined;
  if (plan.plan === "edit" || plan.parts.length > slicesInRecordMax) return undefined;
  const slices = slicesOfParts(plan.parts, 0);
  return inlineRefOf(slices, lengthOf(slices));
}

async function applyWithReferences(
  tx: Transaction,
  ids: IdAllocator,
  { owner, before, plan }: ContentChange,
): Promise<ContentRef | undefined> {
  const references = new NodeReferences(tx, ids);
  const after = plan === undefined ? undefined : await resolvePlan(references, before, plan);
  if (before?.kind === "tree" && !keepsTree(before, plan)) await references.release(before.root);
  const slicesBefore = before === undefined ? [] : slicesInRecord(before);
  const slicesAfter = after === undefined ? [] : slicesInRecord(after);
  references.count(slicesBefore, -1);
  references.count(slicesAfter, 1);
  updateOwnerIndex(tx, owner, slicesBefore, slicesAfter);
  const finished = references.finish();
  if (finished !== undefined) await finished;
  return after;
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
    const slices = isLong ? await slicesOfManyParts(parts) : slicesOfParts(parts, 0);
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
    length = lengthAfter(length, edit);
  }
  return toRef(references, draft, length);
}

/** The length of content without a hole at its end. */
function lengthOf(slices: readonly Slice[]): number {
  const last = slices.at(-1);
  return last === undefined ? 0 : endOf(last);
}

function lengthAfter(length: number, edit: ContentEdit): number {
  if (edit.edit === "resize") return edit.length;
  return edit.edit === "write" ? Math.max(length, edit.at + partLength(edit.part)) : length;
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

/** Stores a tree that became small as slices in the record again. The limit is half of that for
 *  becoming a tree, so that content near the limit does not alternate between both. */
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

/** The bytes of a small content; `undefined` if the content is too long, or if holes, block ids or
 *  encryption would be lost. */
function inlineBytesOf(slices: readonly Slice[], length: number): Uint8Array | undefined {
  if (length > inlineContentBytesMax || slices.length > slicesInRecordMax) return undefined;
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
