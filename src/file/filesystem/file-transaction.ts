import type { Effect } from "../../operation/effects.ts";
import { nextETag } from "../../protocol/etag.ts";
import type { Ticks } from "../../base/ticks.ts";
import { applyEffects } from "../../operation/apply.ts";
import type { Runtime } from "../../operation/execute.ts";
import { Records } from "../../operation/records.ts";
import { newId } from "../../operation/identifiers.ts";
import type { TransactOptions, Transaction, View } from "../../store/store.ts";
import { put, remove } from "../../operation/effects.ts";
import { isIdle, noLocks, type LockState } from "../locks/lock-state.ts";
import { locks, nodes, shares, type NodeKey, type NodeRecord } from "../records.ts";
import type { ShareRecord } from "../records.ts";
import { findNode, nodeById, nodeKeyOf, resolvePath } from "../share-tree.ts";

/** A share as a handle knows it: by its id, and by where to find its record. */
export interface ShareAddress {
  readonly account: bigint;
  readonly name: string;
  readonly id: bigint;
}

/** Where the file of a handle is found: by its id now, or by its path in a snapshot. */
export interface FilePlace {
  readonly share: ShareAddress;
  readonly file: bigint;
  readonly snapshot?: { readonly epoch: number; readonly path: readonly string[] } | undefined;
}

export interface Found {
  readonly share: ShareRecord;
  readonly key: NodeKey;
  readonly node: NodeRecord;
}

/** One look at the files of a share, and what is to be changed in the same transaction. */
export class FileTransaction {
  readonly view: Records;
  readonly #runtime: Runtime;
  readonly #tx: View | Transaction;

  constructor(runtime: Runtime, tx: View | Transaction) {
    this.#runtime = runtime;
    this.#tx = tx;
    this.view = new Records(tx, runtime.content);
  }

  get now(): Ticks {
    return this.#tx.now;
  }

  newId(): bigint {
    return newId(this.#runtime.random);
  }

  stampAfter(previous: Ticks | undefined): Ticks {
    return nextETag(this.#tx.now, previous);
  }

  async share({ account, name, id }: ShareAddress): Promise<ShareRecord | undefined> {
    const record = await this.view.get(shares, { account, name });
    return record?.id === id ? record : undefined;
  }

  /** Nothing if the file or its share is gone. */
  async find(place: FilePlace): Promise<Found | undefined> {
    const share = await this.share(place.share);
    if (share === undefined) return undefined;
    const { snapshot } = place;
    if (snapshot !== undefined) {
      const tree = { share: share.id, epoch: snapshot.epoch };
      const walked = await resolvePath(this.view, tree, snapshot.path);
      return walked.target && { share, key: walked.key, node: walked.target };
    }
    const node = await nodeById(this.view, share.id, place.file);
    return node && { share, node, key: nodeKeyOf(share.id, node) };
  }

  async locksOf(share: bigint, file: bigint): Promise<LockState> {
    return (await this.view.get(locks, { share, id: file })) ?? noLocks;
  }

  nodeAt(key: NodeKey, epoch?: number): Promise<NodeRecord | undefined> {
    return findNode(this.view, key, epoch);
  }

  async apply(effects: readonly Effect[]): Promise<void> {
    if (!("put" in this.#tx)) throw new Error("only a transaction changes anything");
    const { content, origin } = this.#runtime;
    await applyEffects(content, this.#tx, effects, this.#tx.now, origin);
  }
}

/** Files without handles have no record of locks. */
export function keepLocks(share: bigint, file: bigint, state: LockState): Effect {
  const key = { share, id: file };
  return isIdle(state) ? remove(locks, key) : put(locks, key, state);
}

export function keepNode(key: NodeKey, record: NodeRecord): Effect {
  return put(nodes, key, record);
}

export function writeTransaction<T>(
  runtime: Runtime,
  work: (work: FileTransaction) => Promise<T>,
  options?: Pick<TransactOptions, "mayUseReserve">,
): Promise<T> {
  return runtime.store.transact((tx) => work(new FileTransaction(runtime, tx)), options);
}

export function readSnapshot<T>(
  runtime: Runtime,
  work: (work: FileTransaction, view: View) => Promise<T>,
): Promise<T> {
  return runtime.store.snapshot((view) => work(new FileTransaction(runtime, view), view));
}
