import type { Awaitable } from "../base/awaitable.ts";
import type { Ticks } from "../base/ticks.ts";

/** An encoded tuple (`encoding/keys.ts`); keys compare byte by byte. At most `keyBytesMax` long. */
export type Key = Uint8Array;
export type Value = Uint8Array;

export interface Entry {
  readonly key: Key;
  readonly value: Value;
  /** The key as text, and what tells this write of it from every other, where they are known. */
  readonly text?: string;
  readonly revision?: number;
}

/** Keys from `start` (included) to `end` (left out), in order, or backwards from the end. */
export interface Bounds {
  readonly start: Key;
  readonly end: Key;
  readonly reverse?: boolean;
  readonly limit?: number;
  /** An engine at the other end of a connection brings these along. */
  readonly indexTarget?: IndexTarget;
}

export interface LimitedBounds extends Bounds {
  readonly limit: number;
}

/** Each key of a range leads to another: `prefix` and what comes after its first `skip` bytes. */
export interface IndexTarget {
  readonly skip: number;
  readonly prefix: Uint8Array;
}

/** One consistent state. Keys and values must not be modified; they stay as they are after the
 *  view has ended. */
export interface View {
  /** Store time when the view began. Never goes backwards, common to all processes. */
  readonly now: Ticks;
  /** Every commit up to this one is visible, none after it. */
  readonly sequence: number;
  get(key: Key): Awaitable<Value | undefined>;
  /** In arrays, because a listing reads thousands. */
  range(bounds: Bounds): AsyncIterable<readonly Entry[]>;
  /** The first few of a range. Of many transactions that each take what comes first away, one does
   *  not step over what those before it have taken. */
  take(bounds: LimitedBounds): Awaitable<readonly Entry[]>;
}

/** Reads are remembered and validated at commit; writes are buffered until then. */
export interface Transaction extends View {
  /** The bytes belong to the store from then on. */
  put(key: Key, value: Value): void;
  delete(key: Key): void;
  /** Commutative, never a conflict: live bytes, quotas, message counts. Read with `peek`. */
  add(counter: Key, delta: bigint): void;
  /** A read that is not validated. */
  peek(key: Key): Awaitable<Value | undefined>;
}

export interface SnapshotOptions {
  /** Tried on a view of what is remembered, which may be wrong, to learn what the work will read:
   *  an engine elsewhere then brings it in one round trip. What comes of it does not matter. Work
   *  that asks for more runs again, so it has no side effects before its last read. */
  readonly prefetch?: ((view: View) => Awaitable<unknown>) | undefined;
}

export interface TransactOptions extends SnapshotOptions {
  /** How often a conflict may re-run the work before `StoreBusy`. */
  readonly attemptsMax?: number;
  /** The work changes what everyone who does the same changes too: a run before its turn comes
   *  would be wasted. */
  readonly runInBatch?: boolean | undefined;
  /** On a full disk this transaction may use the space that is kept for deletions: it frees more
   *  than it takes, or is needed by one that does. */
  readonly mayUseReserve?: boolean | undefined;
}

export interface Store {
  /** Runs `work` atomically and durably; may run it again after a conflict, so `work` has no side
   *  effects. Without writes it only reads, and nothing is validated. What changes volatile keys
   *  alone (the store is told which when it is opened) is acknowledged without being flushed: a
   *  loss of power forgets it, or an earlier state of such a key comes back. */
  transact<T>(work: (tx: Transaction) => Awaitable<T>, options?: TransactOptions): Promise<T>;
  /** Runs `work` on one consistent snapshot. */
  snapshot<T>(work: (view: View) => Awaitable<T>, options?: SnapshotOptions): Promise<T>;
  /** Calls back, soon and at least once, after any commit under `prefix`, by whatever process. */
  watch(prefix: Key, onChange: () => void): Unwatch;
  close(): Promise<void>;
}

export type Unwatch = () => void;

/** Too many conflicts in a row: the caller answers `ServerBusy`. */
export class StoreBusy extends Error {
  override readonly name = "StoreBusy";
}

/** The store was closed, by this process. Whoever still asks meets a server that is stopping. */
export class StoreClosed extends Error {
  override readonly name = "StoreClosed";
}

/** The disk is full or failing: nothing was committed, and reads go on. Or the database is away:
 *  whether a commit that was under way took effect is then not known. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The disk has no space for a commit. What frees space may still be committed. */
export class StoreFull extends StoreUnavailable {
  override readonly name = "StoreFull";
}
