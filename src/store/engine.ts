import type { Awaitable } from "../base/awaitable.ts";
import type { Ticks } from "../base/ticks.ts";
import type { KeyText } from "../encoding/keys.ts";
import type { Key, Value } from "./store.ts";

/** What a store needs of the storage below it: an engine. There are three: LMDB (`lmdb/`) and
 *  memory (`memory/`) implement `Engine`; PostgreSQL is remote and implements only the reading of
 *  states (`StateReader`), because its commits are validated by the database. */

/** An entry of a state: key, value, and its revision, the number of the transaction that wrote it.
 *  Equal revisions of a key mean equal values: transactions are validated by them. */
export interface VersionedEntry {
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value;
  readonly revision: number;
}

/** A range of keys, from `start` (included) to `end` (excluded), read backwards with `reverse`. */
export interface ScanBounds {
  readonly start: KeyText;
  readonly end: KeyText;
  readonly reverse: boolean;
}

/** What a state of a store has besides its entries. `sequence` is the number of its last commit. */
export interface StateFacts {
  readonly sequence: number;
  /** The latest store time that a commit of this state has used. */
  readonly ticks: Ticks;
  /** Store time minus the monotonic clock of this boot; the same for all processes. */
  readonly clockOffset: Ticks;
  /** Id of the process that may commit before all others (`engine-commits.ts`); 0 for none. */
  readonly priorityOwner: number;
}

/** One state (immutable version) of a store. Reads return values if the engine is local and
 *  promises if it is remote. */
export interface StateReader extends StateFacts {
  get(key: Key, text: KeyText): Awaitable<VersionedEntry | undefined>;
  /** Reads the first `countMax` entries of a range, in the direction of the bounds. */
  scan(bounds: ScanBounds, countMax: number): Awaitable<VersionedEntry[]>;
}

/** An open state; must be closed, because until then the engine keeps deleted entries for it. */
export interface StateView extends StateReader {
  /** Store time of the first read-only work on this view. Later work shares it, because reading the
   *  clock takes 3 % of the CPU time of a Get Blob. */
  snapshotTime?: Ticks;
  close(): void;
}

/** One state (immutable version) of a local engine (LMDB or memory), read synchronously. */
export interface EngineReader extends StateReader {
  get(key: Key, text: KeyText): VersionedEntry | undefined;
  scan(bounds: ScanBounds, countMax: number): VersionedEntry[];
  /** Returns a function that says whether a commit after this sequence has changed keys with a
   *  given first byte, for watchers. Absent if the engine does not know this. */
  changedSince?(sequence: number): (firstByte: number) => boolean;
}

export interface EngineView extends EngineReader {
  close(): void;
}

/** One change that an engine writes; an undefined value deletes the key. */
export interface EngineWrite {
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value | undefined;
  readonly revision: number;
}

/** What one commit writes; `sequence` and `ticks` are those of the new state. */
export interface EngineBatch {
  readonly sequence: number;
  readonly ticks: Ticks;
  /** New clock offset; absent if the stored one stays as it is. */
  readonly clockOffset?: Ticks;
  readonly priorityOwner?: number;
  readonly writes: readonly EngineWrite[];
  /** Whether the batch may use disk space that is reserved for transactions that free space. */
  readonly mayUseReserve?: boolean;
}

/** Encodes values on their way to a disk or a database and decodes them on the way back: encryption
 *  (`encryption/record-cipher.ts`). */
export interface ValueCodec {
  encode(key: Key, text: KeyText, value: Value): Value;
  /** Returns the entry with its value decoded, possibly only when the value is read. */
  decodeEntry(entry: VersionedEntry): VersionedEntry;
}

/** The storage below a store (`transactional-store.ts` adds transactions): an engine opens its
 *  latest state and replaces it durably. */
export interface Engine {
  /** Opens the latest state, including commits of other processes. */
  open(): EngineView;
  /** Takes the write lock and calls `decide` once, synchronously, with the state under the lock.
   *  Writes the returned batch atomically and resolves when it is durable. Rejects with
   *  `StoreUnavailable` if that failed; then nothing was written. `writesExpected` is an estimate,
   *  for the choice between a synchronous commit and one on another thread. */
  commit(
    decide: (current: EngineReader) => EngineBatch | undefined,
    writesExpected?: number,
  ): Promise<void>;
  close(): Promise<void>;
}
