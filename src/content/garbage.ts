import type { Slice } from "../core/content-ref.ts";
import type { Key, Store, Transaction } from "../store/store.ts";
import { referencesTo, setReferences } from "./ledger.ts";
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

const entriesPerRoundMax = 512;
/** Keeps each transaction short, however large the tree. */
const nodesPerTransactionMax = 256;
const transactionsPerRoundMax = 64;

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
    const { keys, seen } = await this.#look();
    this.#seen = seen;
    const lowest = await horizon();
    const ripe = keys.filter((key) => (seen.get(nameOf(key)) ?? Infinity) <= lowest);
    let transactions = 0;
    for (const key of ripe) {
      for (let done = false; !done; transactions += 1) {
        if (transactions >= transactionsPerRoundMax) return true;
        done = await this.#free(key);
      }
      this.#seen.delete(nameOf(key));
    }
    return ripe.length > 0;
  }

  async #look(): Promise<{ keys: Key[]; seen: Map<string, number> }> {
    return this.#parts.store.snapshot(async (view) => {
      const keys: Key[] = [];
      const seen = new Map<string, number>();
      for await (const entries of view.range({ ...allGarbage(), limit: entriesPerRoundMax })) {
        for (const entry of entries) {
          const key = new Uint8Array(entry.key);
          keys.push(key);
          seen.set(nameOf(key), this.#seen.get(nameOf(key)) ?? view.sequence);
        }
      }
      return { keys, seen };
    });
  }

  /** One bounded step; true when the entry is gone. Files go first: a crash in between only means
   *  that they are removed once more. */
  async #free(key: Key): Promise<boolean> {
    const { store, removeExtent } = this.#parts;
    const stored = await store.snapshot(async (view) => {
      const value = await view.get(key);
      return value === undefined ? undefined : garbageCodec.decode(value);
    });
    if (stored === undefined) return true;
    for (const extent of stored.extents) await removeExtent(extent);
    return store.transact(async (tx) => {
      const value = await tx.get(key);
      if (value === undefined) return true;
      const left = await freeSome(tx, garbageCodec.decode(value));
      if (left.nodes.length + left.trees.length === 0) tx.delete(key);
      else tx.put(key, garbageCodec.encode(left));
      return left.nodes.length + left.trees.length === 0;
    });
  }
}

function nameOf(key: Key): string {
  return Buffer.from(key).toString("hex");
}

async function freeSome(tx: Transaction, garbage: GarbageRecord): Promise<GarbageRecord> {
  const nodes = [...garbage.nodes];
  const trees = [...garbage.trees];
  let budget = nodesPerTransactionMax;
  for (; budget > 0 && nodes.length > 0; budget -= 1) tx.delete(nodeKey(nodes.pop() as bigint));
  for (; budget > 0 && trees.length > 0; budget -= 1) {
    trees.push(...(await releaseNode(tx, trees.pop() as bigint)));
  }
  return { nodes, trees, extents: [] };
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
