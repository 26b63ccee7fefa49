import type { ContentEdit, ContentPlan, ContentRef, Slice } from "./content-ref.ts";
import type { Key, Transaction } from "../store/store.ts";
import type { IdAllocator } from "./ids.ts";
import { NodeReferences } from "./node-references.ts";
import { nodeCost, sliceCost } from "./node.ts";
import { partLength } from "./plan.ts";
import {
  bytesByExtent,
  endOf,
  partsPerTurnMax,
  slicesOfManyParts,
  slicesOfParts,
  splice,
  type Span,
} from "./slices.ts";
import { ownerDigest, recordOwnerKey } from "./tables.ts";
import { buildTree, replaceInTree } from "./tree-edit.ts";
import { slicesInRecord } from "./tree-walk.ts";

/** Beyond either of these a content becomes a tree. */
export const slicesInRecordMax = 32;
export const slicesInRecordBytesMax = 6144;
/** Contents without holes and blocks up to this are nothing but bytes. */
export const inlineContentBytesMax = 4096;

/** Content while it is being changed. */
type Draft =
  | { readonly kind: "slices"; readonly slices: readonly Slice[] }
  | { readonly kind: "tree"; readonly root: bigint };

export interface ContentChange {
  readonly owner: Key;
  readonly before: ContentRef | undefined;
  readonly plan: ContentPlan | undefined;
}

export async function applyPlan(
  tx: Transaction,
  ids: IdAllocator,
  { owner, before, plan }: ContentChange,
): Promise<ContentRef | undefined> {
  const ledger = new NodeReferences(tx, ids);
  const after = plan === undefined ? undefined : await carryOut(ledger, before, plan);
  if (before?.kind === "tree" && !isUsedUp(before, plan)) await ledger.release(before.root);
  const held = before === undefined ? [] : slicesInRecord(before);
  const kept = after === undefined ? [] : slicesInRecord(after);
  ledger.count(held, -1);
  ledger.count(kept, 1);
  moveIndex(tx, owner, held, kept);
  const finished = ledger.finish();
  if (finished !== undefined) await finished;
  return after;
}

/** The plan shares or changes the very tree that the record held, and so keeps its reference. */
function isUsedUp(before: ContentRef & { kind: "tree" }, plan: ContentPlan | undefined): boolean {
  if (plan?.plan === "share") return isTree(plan.ref, before.root);
  return plan?.plan === "edit" && isTree(plan.base, before.root);
}

function isTree(ref: ContentRef | undefined, root: bigint): boolean {
  return ref?.kind === "tree" && ref.root === root;
}

async function carryOut(
  ledger: NodeReferences,
  before: ContentRef | undefined,
  plan: ContentPlan,
): Promise<ContentRef> {
  if (plan.plan === "compose") {
    const { parts } = plan;
    const isLong = parts.length > partsPerTurnMax;
    const slices = isLong ? await slicesOfManyParts(parts) : slicesOfParts(parts, 0);
    const last = slices.at(-1);
    return toRef(ledger, { kind: "slices", slices }, last === undefined ? 0 : endOf(last));
  }
  const base = plan.plan === "share" ? plan.ref : plan.base;
  if (base.kind === "tree" && !isTree(before, base.root)) await ledger.retain(base.root);
  if (plan.plan === "share") return base;
  let draft: Draft = base.kind === "tree" ? base : { kind: "slices", slices: slicesInRecord(base) };
  let length = base.length;
  for (const edit of plan.edits) {
    const grows = edit.edit === "resize" && edit.length >= length;
    if (!grows) draft = await applyEdit(ledger, draft, edit);
    length = lengthAfter(length, edit);
  }
  return toRef(ledger, draft, length);
}

function lengthAfter(length: number, edit: ContentEdit): number {
  if (edit.edit === "resize") return edit.length;
  return edit.edit === "write" ? Math.max(length, edit.at + partLength(edit.part)) : length;
}

async function applyEdit(ledger: NodeReferences, draft: Draft, edit: ContentEdit): Promise<Draft> {
  const insert = edit.edit === "write" ? slicesOfParts([edit.part], edit.at) : [];
  const span = spanOf(edit);
  if (span.from === span.to) return draft;
  if (draft.kind === "slices")
    return { kind: "slices", slices: splice(draft.slices, span, insert) };
  const root = await replaceInTree(ledger, draft.root, { span, insert });
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

function toRef(ledger: NodeReferences, draft: Draft, length: number): ContentRef {
  if (draft.kind === "tree") return shrunk(ledger, draft.root, length);
  const { slices } = draft;
  const bytes = wholeBytes(slices, length);
  if (bytes !== undefined) return { kind: "inline", length, bytes };
  if (fitsRecord(slices)) return { kind: "slices", length, slices };
  const root = buildTree(ledger, slices);
  return root === undefined
    ? { kind: "slices", length, slices: [] }
    : { kind: "tree", length, root };
}

/** A tree that was cut down to few slices goes back into the record; half the limit, so that a
 *  content at the limit does not go to and fro. */
function shrunk(ledger: NodeReferences, root: bigint, length: number): ContentRef {
  const node = ledger.fresh(root);
  const small =
    node?.kind === "leaf" &&
    node.slices.length <= slicesInRecordMax / 2 &&
    nodeCost(node) <= slicesInRecordBytesMax / 2;
  if (!small) return { kind: "tree", length, root };
  ledger.dissolve(root);
  return { kind: "slices", length, slices: node.slices };
}

function fitsRecord(slices: readonly Slice[]): boolean {
  if (slices.length > slicesInRecordMax) return false;
  let cost = 0;
  for (const slice of slices) cost += sliceCost(slice);
  return cost <= slicesInRecordBytesMax;
}

/** All of a small content's bytes, unless a hole or a block id would be lost. */
function wholeBytes(slices: readonly Slice[], length: number): Uint8Array | undefined {
  if (length > inlineContentBytesMax || slices.length > slicesInRecordMax) return undefined;
  let end = 0;
  for (const slice of slices) {
    const lost = slice.block !== undefined || slice.at !== end || !("bytes" in slice.source);
    if (lost || slice.source.cipher !== undefined) return undefined;
    end = endOf(slice);
  }
  if (end !== length) return undefined;
  const only = slices.length === 1 ? slices[0]?.source : undefined;
  if (only !== undefined && "bytes" in only) return only.bytes;
  const bytes = new Uint8Array(length);
  for (const { at, source } of slices) if ("bytes" in source) bytes.set(source.bytes, at);
  return bytes;
}

function moveIndex(
  tx: Transaction,
  owner: Key,
  held: readonly Slice[],
  kept: readonly Slice[],
): void {
  const heldExtents = bytesByExtent(held);
  const keptExtents = bytesByExtent(kept);
  if (heldExtents.size + keptExtents.size === 0) return;
  const digest = ownerDigest(owner);
  for (const extent of heldExtents.keys()) {
    if (!keptExtents.has(extent)) tx.delete(recordOwnerKey(extent, digest));
  }
  for (const extent of keptExtents.keys()) {
    if (!heldExtents.has(extent)) tx.put(recordOwnerKey(extent, digest), owner);
  }
}
