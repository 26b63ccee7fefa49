import type { Slice } from "./content-ref.ts";
import type { Key, Store, Transaction } from "../store/store.ts";
import { referencesTo, setReferences } from "./node-references.ts";
import { decodeNode } from "./node-codec.ts";
import { bytesByExtent } from "./slices.ts";
import {
  allGarbage,
  countKey,
  garbageCodec,
  liveKey,
  nodeKey,
  nodeOwnerKey,
  type GarbageRecord,
} from "./tables.ts";

/** Garbage entries that one round reads. */
const entriesPerRoundMax = 4096;
/** Content nodes that one transaction deletes, however large the tree is. */
const nodesPerTransactionMax = 512;
const transactionsPerRoundMax = 64;
const freeing = { mayUseReserve: true };

export interface GarbageParts {
  readonly store: Store;
  readonly removeExtent: (extent: bigint) => Promise<void>;
}

/** Deletes garbage that no view can reach any more. An entry was committed at or before the
 *  state in which it is first seen, so it may be deleted once every read horizon has reached
 *  that state. */
export class GarbageCollector {
  readonly #parts: GarbageParts;
  /** Sequence of the state in which an entry was first seen, by its key in hexadecimal. */
  #firstSeen = new Map<string, number>();

  constructor(parts: GarbageParts) {
    this.#parts = parts;
  }

  /** `horizon` returns the lowest read horizon; it is called after the entries were read. Returns
   *  whether anything was deleted, so that more may follow. */
  async collect(horizon: () => Promise<number>): Promise<boolean> {
    const entries = await this.#readEntries();
    const lowest = await horizon();
    const unreachable = entries.filter(
      ({ name }) => (this.#firstSeen.get(name) ?? Infinity) <= lowest,
    );
    // Files are removed first: after a crash in between they are removed once more.
    for (const { extents } of unreachable) {
      for (const extent of extents) await this.#parts.removeExtent(extent);
    }
    let remaining = unreachable.map(({ key }) => key);
    for (let count = 0; count < transactionsPerRoundMax && remaining.length > 0; count += 1) {
      const keys = remaining;
      remaining = await this.#parts.store.transact((tx) => freeEntries(tx, keys), freeing);
    }
    return unreachable.length > 0;
  }

  async #readEntries(): Promise<readonly GarbageEntry[]> {
    const entries: GarbageEntry[] = [];
    const firstSeen = new Map<string, number>();
    await this.#parts.store.snapshot(async (view) => {
      for await (const page of view.range({ ...allGarbage(), limit: entriesPerRoundMax })) {
        for (const { key, value } of page) {
          const name = Buffer.from(key).toString("hex");
          const { extents } = garbageCodec.decode(value);
          entries.push({ key: new Uint8Array(key), name, extents });
          firstSeen.set(name, this.#firstSeen.get(name) ?? view.sequence);
        }
      }
    });
    this.#firstSeen = firstSeen;
    return entries;
  }
}

/** A stored garbage entry. */
interface GarbageEntry {
  readonly key: Key;
  readonly name: string;
  readonly extents: readonly bigint[];
}

/** Frees entries up to the bound of one transaction and returns the remaining ones. */
async function freeEntries(tx: Transaction, keys: readonly Key[]): Promise<Key[]> {
  let budget = nodesPerTransactionMax;
  for (const [index, key] of keys.entries()) {
    if (budget <= 0) return keys.slice(index);
    const value = await tx.get(key);
    if (value === undefined) continue;
    const { left, freed } = await freeEntry(tx, garbageCodec.decode(value), budget);
    budget -= Math.max(1, freed);
    if (left === undefined) tx.delete(key);
    else {
      tx.put(key, garbageCodec.encode(left));
      return keys.slice(index);
    }
  }
  return [];
}

async function freeEntry(
  tx: Transaction,
  garbage: GarbageRecord,
  nodesMax: number,
): Promise<{ left: GarbageRecord | undefined; freed: number }> {
  const nodes = [...garbage.nodes];
  const trees = [...garbage.trees];
  let freed = 0;
  for (; freed < nodesMax && nodes.length > 0; freed += 1) {
    tx.delete(nodeKey(nodes.pop() as bigint));
  }
  for (; freed < nodesMax && trees.length > 0; freed += 1) {
    for (const child of await releaseNode(tx, trees.pop() as bigint)) trees.push(child);
  }
  const done = nodes.length + trees.length === 0;
  return { left: done ? undefined : { nodes, trees, extents: [] }, freed };
}

/** Removes one reference to a content node. If it was the last, deletes the node and returns its
 *  children, whose references must be removed as well. */
async function releaseNode(tx: Transaction, id: bigint): Promise<readonly bigint[]> {
  const references = await referencesTo(tx, id);
  if (references > 1) {
    setReferences(tx, id, references - 1);
    return [];
  }
  const value = await tx.get(nodeKey(id));
  if (value === undefined) throw new Error(`content node ${id} is missing`);
  const node = decodeNode(value);
  tx.delete(nodeKey(id));
  tx.delete(countKey(id));
  if (node.kind === "inner") return node.children.map((child) => child.id);
  removeLeafReferences(tx, id, node.slices);
  return [];
}

function removeLeafReferences(tx: Transaction, id: bigint, slices: readonly Slice[]): void {
  for (const [extent, bytes] of bytesByExtent(slices)) {
    tx.add(liveKey(extent), BigInt(-bytes));
    tx.delete(nodeOwnerKey(extent, id));
  }
}
