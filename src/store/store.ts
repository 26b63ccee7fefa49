import type { Awaitable } from "../base/awaitable.ts";
import type { Span } from "../base/span.ts";
import type { Ticks } from "../base/ticks.ts";
import type { SavedStates } from "./saved-states/saved-states.ts";

/** The interface of the record store, on which everything else is built: an ordered key space with
 *  serializable transactions. Opened on LMDB, in memory or in PostgreSQL
 *  (`data/storage-backends.ts`). */

/** An encoded tuple (`encoding/keys.ts`), at most `keyBytesMax` long. Keys compare byte by byte. */
export type Key = Uint8Array;
export type Value = Uint8Array;

export interface Entry {
  readonly key: Key;
  readonly value: Value;
  /** The key as text (bytes as characters) and the revision of the value (the commit that wrote
   *  it), for caches of decoded records; absent if the engine does not provide them. */
  readonly text?: string;
  readonly revision?: number;
}

/** Keys from `start` (included) to `end` (excluded), ascending, or descending with `reverse`. */
export interface Bounds {
  readonly start: Key;
  readonly end: Key;
  readonly reverse?: boolean;
  readonly limit?: number;
  /** Set for a range of index entries: a remote engine then fetches the records that they point to
   *  as well, in the same round trip. */
  readonly indexTarget?: IndexTarget;
}

export interface LimitedBounds extends Bounds {
  readonly limit: number;
}

/** Maps a key of an index to that of the record it points to: `prefix`, followed by the bytes of
 *  the key after the first `skip`. */
export interface IndexTarget {
  readonly skip: number;
  readonly prefix: Uint8Array;
}

/** Reads one consistent state. Keys and values must not be modified, because others share them;
 *  they stay valid after the view is closed. */
export interface View {
  /** Store time at the start of the view. Never decreases; common to all processes. */
  readonly now: Ticks;
  /** Number of the last commit that the view contains; later ones are not visible. */
  readonly sequence: number;
  get(key: Key): Awaitable<Value | undefined>;
  /** The entries of a range, in order. Yields them in arrays: an iteration step per entry is too
   *  slow for listings. */
  range(bounds: Bounds): AsyncIterable<readonly Entry[]>;
  /** Reads the first entries of a range. If transactions that commit together each delete the
   *  entries that they read this way, as Get Messages does, none scans the deleted ones again
   *  (`write-set.ts`). */
  readHead(bounds: LimitedBounds): Awaitable<readonly Entry[]>;
}

/** A view that can write. Writes are buffered until the commit, which succeeds only if nothing that
 *  was read, except with `peek`, has changed. */
export interface Transaction extends View {
  /** Buffers a write. The caller must not modify the bytes afterwards. */
  put(key: Key, value: Value): void;
  delete(key: Key): void;
  /** Adds to a counter at commit. Additions never conflict: for live bytes, quotas, message counts.
   *  Read with `peek`. */
  add(counter: Key, delta: bigint): void;
  /** Appends to a log. The key is `log` followed by the sequence of the commit (`logs.ts`), so that
   *  the entries of a log are in commit order. Appends never conflict. A transaction that also
   *  reads the log must read it only up to its `sequence`: it does not see appends that are
   *  uncommitted. */
  append(log: Key, value: Value): void;
  /** Reads a value that may change until the commit without a conflict, as a counter. */
  peek(key: Key): Awaitable<Value | undefined>;
}

export interface SnapshotOptions {
  /** Predicts the reads of the work: a remote engine calls it with a view of cached, possibly stale
   *  values, records the requested keys and fetches them in one round trip. Its result is ignored.
   *  Work that then reads other keys runs again, so it must have no side effects before its last
   *  read. */
  readonly prefetch?: ((view: View) => Awaitable<unknown>) | undefined;
  /** Whether the view has no age limit: for an export, which reads one state to its end. The engine
   *  keeps what the view may read, so the data grows by all that is overwritten meanwhile. */
  readonly isUnlimited?: boolean | undefined;
  /** The span of a traced request; undefined without tracing. */
  readonly span?: Span | undefined;
}

export interface TransactOptions extends SnapshotOptions {
  /** How often the work may run, because of conflicts, before `StoreBusy` is thrown; default 64. */
  readonly attemptsMax?: number;
  /** Runs the work only inside the commit batch, after the transactions before it: for calls that
   *  all change the same keys, so that an earlier attempt would only conflict. */
  readonly runInBatch?: boolean | undefined;
  /** Whether this transaction may use the reserved space on a full disk. For transactions that free
   *  more space than they take, and those that must precede one that does. */
  readonly mayUseReserve?: boolean | undefined;
}

/** A record store. Transactions are serializable: as if they ran one after the other. */
export interface Store {
  /** Named states to which the store can be restored; undefined with PostgreSQL. */
  readonly savedStates?: SavedStates | undefined;
  /** Runs `work` atomically and durably. It may run several times after conflicts, so it must have
   *  no side effects. Without writes nothing is validated. A transaction that changes only volatile
   *  keys (set when the store is opened) is acknowledged without a flush: after a loss of power it
   *  may be missing. */
  transact<T>(work: (tx: Transaction) => Awaitable<T>, options?: TransactOptions): Promise<T>;
  /** Runs read-only `work` on one state, which later commits do not change. */
  snapshot<T>(work: (view: View) => Awaitable<T>, options?: SnapshotOptions): Promise<T>;
  /** Makes the sequences (numbers) of later commits greater than this one. `etagere copy` calls it
   *  for the target: entries appended to the copied logs must follow the copied ones. */
  raiseSequence(to: number): Promise<void>;
  /** Calls `onChange` at least once after each commit under `prefix`, by any process. */
  watch(prefix: Key, onChange: () => void, options?: WatchOptions): Unwatch;
  /** Throws `StoreUnavailable` if writes are rejected although reads work, because the file of the
   *  records was deleted or replaced. Absent if reads fail as well then. */
  checkWritable?(): void;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** Whether no client waits for the change, so that it may be noticed some 10 ms later. */
  readonly isBackground?: boolean;
}

export type Unwatch = () => void;

/** Thrown after too many conflicts in a row, or if the commit queue is full. The client gets
 *  `ServerBusy`. */
export class StoreBusy extends Error {
  override readonly name: string = "StoreBusy";
}

/** Thrown if the work of a transaction takes so long that it would delay all other transactions. */
export class WorkTimedOut extends StoreBusy {}

/** Thrown after this process has closed the store, because it is stopping. */
export class StoreClosed extends Error {
  override readonly name = "StoreClosed";
}

/** Thrown if the disk is full or failing: nothing was committed, and reads still work. Also if the
 *  database is unreachable: then it is unknown whether a commit in progress took effect. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/** The other server nodes treat this one as ended: nothing can be read or committed until it is
 *  started again. */
export class NodeFenced extends StoreUnavailable {
  override readonly name = "NodeFenced";
}

/** Thrown if the disk has no space for the commit. Transactions that free space may still
 *  succeed. */
export class StoreFull extends StoreUnavailable {
  override readonly name = "StoreFull";
}

/** Whether an error of the store is temporary, so that the same call may succeed later. */
export function isTemporary(error: unknown): error is Error {
  return error instanceof StoreUnavailable || error instanceof StoreBusy;
}

export const counterBytes = 8;

/** Decodes the value of a counter: 8 bytes, signed, little-endian; an absent key counts as 0. */
export function decodeCounter(value: Value | undefined): bigint {
  if (value === undefined) return 0n;
  if (value.length !== counterBytes) {
    throw new RangeError(`counter must have ${counterBytes} bytes, got ${value.length}`);
  }
  return new DataView(value.buffer, value.byteOffset, counterBytes).getBigInt64(0, true);
}

export function encodeCounter(count: bigint): Value {
  const value = new Uint8Array(counterBytes);
  new DataView(value.buffer).setBigInt64(0, count, true);
  return value;
}
