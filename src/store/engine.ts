import type { Awaitable } from "../base/awaitable.ts";
import type { Ticks } from "../base/ticks.ts";
import type { KeyText } from "./key-text.ts";
import type { Key, Value } from "./store.ts";

/** What an engine keeps at a key: the value and the commit that wrote it. Stamps are never used
 *  twice, so the same stamp means the same value. */
export interface VersionedEntry {
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value;
  readonly revision: number;
}

export interface ScanBounds {
  readonly start: KeyText;
  readonly end: KeyText;
  readonly reverse: boolean;
}

export type { Awaitable };

/** One state of a store, wherever it is kept: at hand, or at the other end of a connection. */
export interface StateReader {
  /** The greatest stamp in this state. */
  readonly sequence: number;
  /** The latest moment that a commit of this state has used. */
  readonly ticks: Ticks;
  /** Store time when the monotonic clock of this boot reads zero. */
  readonly clockOffset: Ticks;
  /** The process that others let go first (`turn.ts`); zero for none. */
  readonly priorityOwner: number;
  get(key: Key, text: KeyText): Awaitable<VersionedEntry | undefined>;
  /** At most `countMax` entries of the bounds, in their direction. */
  scan(bounds: ScanBounds, countMax: number): Awaitable<VersionedEntry[]>;
}

export interface StateView extends StateReader {
  close(): void;
}

/** One state of an engine, read synchronously. */
export interface EngineReader extends StateReader {
  get(key: Key, text: KeyText): VersionedEntry | undefined;
  scan(bounds: ScanBounds, countMax: number): VersionedEntry[];
}

export interface EngineView extends EngineReader {
  close(): void;
}

/** Without a value the key is deleted. */
export interface EngineWrite {
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value | undefined;
  readonly revision: number;
}

export interface EngineBatch {
  readonly sequence: number;
  readonly ticks: Ticks;
  /** These are left as they are if not given. */
  readonly epoch?: Ticks;
  readonly turn?: number;
  readonly writes: readonly EngineWrite[];
  /** May use the space that is kept for deletions. */
  readonly mayUseReserve?: boolean;
}

/**
 * What a store is built on (`transactional-store.ts` adds the rest). An engine only knows how to
 * show its latest state and how to replace it durably.
 */
export interface Engine {
  /** The latest state, including whatever other processes have committed. */
  open(): EngineView;
  /** Takes the write lock and calls `decide`, synchronously and once, with the state as it is under
   *  the lock. Writes what it returns, all or nothing, and resolves when that is durable. Rejects
   *  with `StoreUnavailable` if it could not; then nothing was written. */
  commit(
    decide: (current: EngineReader) => EngineBatch | undefined,
    writesExpected?: number,
  ): Promise<void>;
  close(): Promise<void>;
}
