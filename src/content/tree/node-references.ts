import { InvariantBroken } from "../../base/invariant.ts";
import type { Slice } from "../content-ref.ts";
import type { LoopShare } from "../../base/loop-share.ts";
import type { Transaction } from "../../store/store.ts";
import type { IdAllocator } from "../extents/ids.ts";
import { encodeNode } from "./node-codec.ts";
import { loadNode, type Node } from "./node.ts";
import { bytesByExtent } from "./slices.ts";
import {
  countCodec,
  countKey,
  garbageCodec,
  garbageKey,
  liveKey,
  nodeKey,
  nodeOwnerKey,
} from "../tables.ts";

/**
 * Tracks the references that one change of content (`apply-plan.ts`) adds and removes, so that
 * nodes are deleted exactly when no snapshot, copy or version needs them any more. A content node
 * has one reference unless a count record says otherwise. A node is taken over before it is
 * changed: an unshared one is replaced, with its children; a shared one is copied, and its children
 * get one more reference.
 *
 * New nodes are written at the end, so that several edits write each node once.
 */
export class NodeReferences {
  readonly #tx: Transaction;
  readonly #ids: IdAllocator;
  readonly loop: LoopShare;
  readonly #created = new Map<bigint, Node>();
  readonly #liveBytes = new Map<bigint, number>();
  readonly #garbageNodes: bigint[] = [];
  readonly #garbageTrees: bigint[] = [];

  constructor(tx: Transaction, ids: IdAllocator, loop: LoopShare) {
    this.#tx = tx;
    this.#ids = ids;
    this.loop = loop;
  }

  create(node: Node): bigint {
    const id = this.#ids.next();
    this.#created.set(id, node);
    return id;
  }

  /** Returns a node that this change has created and not discarded; `undefined` for a stored
   *  one. */
  createdNode(id: bigint): Node | undefined {
    return this.#created.get(id);
  }

  /** Discards a node that this change has created, before it is written. The caller uses its
   *  children or slices instead. */
  discard(id: bigint): void {
    this.#created.delete(id);
  }

  /** Called before a node is changed: replaces the caller's reference to it by references to its
   *  children or slices, for the node that the caller creates instead. */
  async takeOver(id: bigint): Promise<Node> {
    const fresh = this.#created.get(id);
    if (fresh !== undefined) {
      this.#created.delete(id);
      return fresh;
    }
    const node = await loadNode(this.#tx, id);
    const references = await referencesTo(this.#tx, id);
    if (references === 1) {
      this.#garbageNodes.push(id);
      if (node.kind === "leaf") this.#removeLeafReferences(id, node.slices);
    } else {
      setReferences(this.#tx, id, references - 1);
      if (node.kind === "inner") for (const child of node.children) await this.retain(child.id);
    }
    return node;
  }

  async retain(id: bigint): Promise<void> {
    setReferences(this.#tx, id, (await referencesTo(this.#tx, id)) + 1);
  }

  /** Removes a reference to a node. If it was the last, the subtree becomes garbage and is deleted
   *  later in several transactions, since it may be huge. */
  async release(id: bigint): Promise<void> {
    const fresh = this.#created.get(id);
    if (fresh !== undefined) {
      this.#created.delete(id);
      if (fresh.kind === "inner") for (const child of fresh.children) await this.release(child.id);
      return;
    }
    const references = await referencesTo(this.#tx, id);
    if (references === 1) this.#garbageTrees.push(id);
    else setReferences(this.#tx, id, references - 1);
  }

  /** Adds (`sign` 1) or subtracts the live bytes of slices in the record itself, per extent. */
  count(slices: readonly Slice[], sign: 1 | -1): void {
    for (const [extent, bytes] of bytesByExtent(slices)) this.#addLiveBytes(extent, sign * bytes);
  }

  /** Called at the end of the change: writes all of it into the transaction. Yields to the event
   *  loop between nodes if there are many: a list of 50,000 blocks has thousands. */
  finish(): Promise<void> | undefined {
    if (this.#created.size > nodesPerStepMax) return this.#finishInSteps();
    for (const [id, node] of this.#created) this.#writeNode(id, node);
    this.#writeCounts();
    return undefined;
  }

  async #finishInSteps(): Promise<void> {
    for (const [id, node] of this.#created) {
      this.#writeNode(id, node);
      const wait = this.loop.spend(unitsPerNode);
      if (wait !== undefined) await wait;
    }
    this.#writeCounts();
  }

  #writeNode(id: bigint, node: Node): void {
    this.#tx.put(nodeKey(id), encodeNode(node));
    if (node.kind === "leaf") this.#addLeafReferences(id, node.slices);
  }

  #writeCounts(): void {
    for (const [extent, bytes] of this.#liveBytes) {
      if (bytes !== 0) this.#tx.add(liveKey(extent), BigInt(bytes));
    }
    if (this.#garbageNodes.length + this.#garbageTrees.length > 0) {
      const garbage = { nodes: this.#garbageNodes, trees: this.#garbageTrees, extents: [] };
      const key = garbageKey(this.#tx.sequence, this.#ids.next());
      this.#tx.put(key, garbageCodec.encode(garbage));
    }
  }

  #addLeafReferences(id: bigint, slices: readonly Slice[]): void {
    for (const [extent, bytes] of bytesByExtent(slices)) {
      this.#addLiveBytes(extent, bytes);
      this.#tx.put(nodeOwnerKey(extent, id), noBytes);
    }
  }

  #removeLeafReferences(id: bigint, slices: readonly Slice[]): void {
    for (const [extent, bytes] of bytesByExtent(slices)) {
      this.#addLiveBytes(extent, -bytes);
      this.#tx.delete(nodeOwnerKey(extent, id));
    }
  }

  #addLiveBytes(extent: bigint, bytes: number): void {
    this.#liveBytes.set(extent, (this.#liveBytes.get(extent) ?? 0) + bytes);
  }
}

/** A change that writes at most this many content nodes does not yield to the event loop. */
const nodesPerStepMax = 64;
/** Cost of writing a node, in units of event-loop time (`base/loop-share.ts`). */
const unitsPerNode = 8;
const noBytes = new Uint8Array(0);

/** How many parents or records refer to a content node; without a stored count it is 1. */
export async function referencesTo(tx: Transaction, node: bigint): Promise<number> {
  const value = await tx.get(countKey(node));
  return value === undefined ? 1 : countCodec.decode(value).references;
}

export function setReferences(tx: Transaction, node: bigint, references: number): void {
  if (!Number.isSafeInteger(references) || references < 1) {
    throw new InvariantBroken(`content node ${node} has at least one reference`, references);
  }
  if (references === 1) tx.delete(countKey(node));
  else tx.put(countKey(node), countCodec.encode({ references }));
}
