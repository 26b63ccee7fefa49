import type { Slice } from "./content-ref.ts";
import { spend } from "../base/loop-share.ts";
import type { Transaction } from "../store/store.ts";
import type { IdAllocator } from "./ids.ts";
import { decodeNode, encodeNode } from "./node-codec.ts";
import type { Node } from "./node.ts";
import { bytesByExtent } from "./slices.ts";
import {
  countCodec,
  countKey,
  garbageCodec,
  garbageKey,
  liveKey,
  nodeKey,
  nodeOwnerKey,
} from "./tables.ts";

/** So few are written in one go. */
const nodesAtOnceMax = 64;
/** Of the event loop's time (`base/loop-share.ts`). */
const unitsPerNode = 8;

/**
 * The references that one change of content takes and gives up. Every node has one owner unless a
 * count says more; whoever changes a node takes it over first: an unshared one with all its
 * children, a shared one as a copy, whose children then have one owner more.
 *
 * Nodes made here are written at the end, so that several edits in a row write each node once.
 */
export class NodeReferences {
  readonly #tx: Transaction;
  readonly #ids: IdAllocator;
  readonly #fresh = new Map<bigint, Node>();
  readonly #live = new Map<bigint, number>();
  readonly #garbageNodes: bigint[] = [];
  readonly #garbageTrees: bigint[] = [];

  constructor(tx: Transaction, ids: IdAllocator) {
    this.#tx = tx;
    this.#ids = ids;
  }

  create(node: Node): bigint {
    const id = this.#ids.next();
    this.#fresh.set(id, node);
    return id;
  }

  /** The node, if it was made by this change. */
  fresh(id: bigint): Node | undefined {
    return this.#fresh.get(id);
  }

  /** Forgets a node made by this change; what it refers to passes to the caller. */
  dissolve(id: bigint): void {
    this.#fresh.delete(id);
  }

  /** Turns the caller's reference to the node into references to what the node refers to. */
  async takeOver(id: bigint): Promise<Node> {
    const fresh = this.#fresh.get(id);
    if (fresh !== undefined) {
      this.#fresh.delete(id);
      return fresh;
    }
    const node = await this.#load(id);
    const references = await referencesTo(this.#tx, id);
    if (references === 1) {
      this.#garbageNodes.push(id);
      if (node.kind === "leaf") this.#dropLeaf(id, node.slices);
    } else {
      setReferences(this.#tx, id, references - 1);
      if (node.kind === "inner") for (const child of node.children) await this.retain(child.id);
    }
    return node;
  }

  async retain(id: bigint): Promise<void> {
    setReferences(this.#tx, id, (await referencesTo(this.#tx, id)) + 1);
  }

  /** A tree that was the caller's alone is walked later: it may be huge. */
  async release(id: bigint): Promise<void> {
    const fresh = this.#fresh.get(id);
    if (fresh !== undefined) {
      this.#fresh.delete(id);
      if (fresh.kind === "inner") for (const child of fresh.children) await this.release(child.id);
      return;
    }
    const references = await referencesTo(this.#tx, id);
    if (references === 1) this.#garbageTrees.push(id);
    else setReferences(this.#tx, id, references - 1);
  }

  /** Counts bytes that the record itself refers to. */
  count(slices: readonly Slice[], sign: 1 | -1): void {
    for (const [extent, bytes] of bytesByExtent(slices)) this.#addLive(extent, sign * bytes);
  }

  /** Writes everything into the transaction. A list of 50,000 blocks has thousands of nodes. */
  finish(): Promise<void> | undefined {
    if (this.#fresh.size > nodesAtOnceMax) return this.#finishInTurns();
    for (const [id, node] of this.#fresh) this.#writeNode(id, node);
    this.#writeCounts();
    return undefined;
  }

  async #finishInTurns(): Promise<void> {
    for (const [id, node] of this.#fresh) {
      this.#writeNode(id, node);
      const wait = spend(unitsPerNode);
      if (wait !== undefined) await wait;
    }
    this.#writeCounts();
  }

  #writeNode(id: bigint, node: Node): void {
    this.#tx.put(nodeKey(id), encodeNode(node));
    if (node.kind === "leaf") this.#keepLeaf(id, node.slices);
  }

  #writeCounts(): void {
    for (const [extent, bytes] of this.#live) {
      if (bytes !== 0) this.#tx.add(liveKey(extent), BigInt(bytes));
    }
    if (this.#garbageNodes.length + this.#garbageTrees.length > 0) {
      const garbage = { nodes: this.#garbageNodes, trees: this.#garbageTrees, extents: [] };
      const key = garbageKey(this.#tx.sequence, this.#ids.next());
      this.#tx.put(key, garbageCodec.encode(garbage));
    }
  }

  async #load(id: bigint): Promise<Node> {
    const value = await this.#tx.get(nodeKey(id));
    if (value === undefined) throw new Error(`content node ${id} is missing`);
    return decodeNode(value);
  }

  #keepLeaf(id: bigint, slices: readonly Slice[]): void {
    for (const [extent, bytes] of bytesByExtent(slices)) {
      this.#addLive(extent, bytes);
      this.#tx.put(nodeOwnerKey(extent, id), noBytes);
    }
  }

  #dropLeaf(id: bigint, slices: readonly Slice[]): void {
    for (const [extent, bytes] of bytesByExtent(slices)) {
      this.#addLive(extent, -bytes);
      this.#tx.delete(nodeOwnerKey(extent, id));
    }
  }

  #addLive(extent: bigint, bytes: number): void {
    this.#live.set(extent, (this.#live.get(extent) ?? 0) + bytes);
  }
}

const noBytes = new Uint8Array(0);

export async function referencesTo(tx: Transaction, node: bigint): Promise<number> {
  const value = await tx.get(countKey(node));
  return value === undefined ? 1 : countCodec.decode(value).references;
}

export function setReferences(tx: Transaction, node: bigint, references: number): void {
  if (references === 1) tx.delete(countKey(node));
  else tx.put(countKey(node), countCodec.encode({ references }));
}
