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

const entriesPerRoundMax = 4096;
/** Keeps each transaction short, however large the tree. */
const nodesPerTransactionMax = 512;
const transactionsPerRoundMax = 64;
const freeing = { mayUseReserve: true };

export interface GarbageParts {
  readonly store: Store;
  readonly removeExtent: (extent: bigint) => Promise<void>;
}

/** Deletes what waits in the queue once nothing can see it. An entry was committed no later than
 *  the state it is first seen in, so it is ripe when every promise has reached that state. */
export class GarbageCollector {
  readonly #parts: GarbageParts;
  /** By key in hexadecimal: the state in which the entry was first seen. */
  #seen = new Map<string, number>();

  constructor(parts: GarbageParts) {
    this.#parts = parts;
  }

  /** `horizon` learns the lowest promise after the queue was looked at. Returns whether anything
   *  went, and so more may. */
  async collect(horizon: () => Promise<number>): Promise<boolean> {
    const entries = await this.#look();
    const lowest = await horizon();
    const ripe = entries.filter(({ name }) => (this.#seen.get(name) ?? Infinity) <= lowest);
    // Files go first: a crash in between only means that they are removed once more.
    for (const { extents } of ripe) {
      for (const extent of extents) await this.#parts.removeExtent(extent);
    }
    let waiting = ripe.map(({ key }) => key);
    for (let count = 0; count < transactionsPerRoundMax && waiting.length > 0; count += 1) {
      const keys = waiting;
      waiting = await this.#parts.store.transact((tx) => freeSome(tx, keys), freeing);
    }
    return ripe.length > 0;
  }

  async #look(): Promise<readonly Waiting[]> {
    const entries: Waiting[] = [];
    const seen = new Map<string, number>();
    await this.#parts.store.snapshot(async (view) => {
      for await (const page of view.range({ ...allGarbage(), limit: entriesPerRoundMax })) {
        for (const { key, value } of page) {
          const name = Buffer.from(key).toString("hex");
          const { extents } = garbageCodec.decode(value);
          entries.push({ key: new Uint8Array(key), name, extents });
          seen.set(name, this.#seen.get(name) ?? view.sequence);
        }
      }
    });
    this.#seen = seen;
    return entries;
  }
}

/** An entry of the queue. */
interface Waiting {
  readonly key: Key;
  readonly name: string;
  readonly extents: readonly bigint[];
}

/** Frees entries up to the bound of one transaction, and returns those that are not done. */
async function freeSome(tx: Transaction, keys: readonly Key[]): Promise<Key[]> {
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

/** Gives up one reference; returns the references that the node held, if it was the last. */
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
  forgetLeaf(tx, id, node.slices);
  return [];
}

function forgetLeaf(tx: Transaction, id: bigint, slices: readonly Slice[]): void {
  for (const [extent, bytes] of bytesByExtent(slices)) {
    tx.add(liveKey(extent), BigInt(-bytes));
    tx.delete(nodeOwnerKey(extent, id));
  }
}
