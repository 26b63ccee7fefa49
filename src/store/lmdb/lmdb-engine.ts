import { closeSync } from "node:fs";

import { open } from "lmdb";
import type { RootDatabase, Transaction as ReadTransaction } from "lmdb";

import type { Engine, EngineBatch, EngineReader, EngineView, ScanBounds } from "../engine.ts";
import type { VersionedEntry } from "../engine.ts";
import { keyOfText, textOfKey, type KeyText } from "../key-text.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import { StoreBusy, StoreUnavailable } from "../store.ts";
import type { Key } from "../store.ts";
import { copyBytes } from "../../encoding/slabs.ts";
import { CommitLatency } from "./commit-latency.ts";
import { openDataFile } from "./data-file.ts";
import { FileInPlace } from "./file-in-place.ts";
import { pageBytes } from "./file-meta.ts";
import { ensureLockFile } from "./lock-file.ts";
import { oldestReaderOf } from "./oldest-reader.ts";
import { PageReserve } from "./page-reserve.ts";
import {
  decodeState,
  encodeState,
  ScannedEntry,
  copyEntry,
  stateKey,
  withRevision,
} from "./versioned-value.ts";

export interface LmdbEngineOptions {
  readonly path: string;
  /** Nothing is ever flushed: for what does not outlive the boot. */
  readonly noSync: boolean;
  /** For those who only look: the file must be there, and nothing can be committed. */
  readonly readOnly?: boolean;
  /** Tells how long commits take; without one they never keep the process waiting. */
  readonly clock?: Clock;
  /** Learns that the file was deleted. */
  readonly log?: Log;
}

/** The library would give every value of a range an allocation of its own, and every key: its
 *  `readKey`, too, is replaced, by one that makes it text. */
const sharedSlabs = {
  encode: (value: Uint8Array): Uint8Array => value,
  decode: (bytes: Uint8Array, length = bytes.length): Uint8Array => copyBytes(bytes, 0, length),
};

type Decide = (current: EngineReader) => EngineBatch | undefined;
type Database = RootDatabase<Uint8Array, Uint8Array>;
interface ReadOptions {
  readonly transaction?: ReadTransaction;
}
/** The declared types leave out that binary reads take a transaction too. */
interface BinaryReader {
  getBinaryFast(key: Key, options: ReadOptions): Uint8Array | undefined;
}

/** Address space only: the file is as large as what it holds. */
const mapBytesMax = 256 * 2 ** 30;
const readersMax = 4096;
/** From here on it pays that another thread writes while this one goes on. */
const writesAsideMin = 24;

/** In this process, of all its stores. A thread that commits aside holds its lock until it was
 *  called back by this one: whoever waited here for a lock meanwhile could wait for ever, for the
 *  same file opened twice, or for another process in the same place. */
let asideCount = 0;

/**
 * LMDB on one file, shared by any number of processes. `overlappingSync` is off: with it a commit
 * becomes visible to other processes before it is durable.
 */
export class LmdbEngine implements Engine {
  readonly #database: Database;
  readonly #pace: CommitLatency | undefined;
  #descriptor: number | undefined;
  readonly #reserve: PageReserve | undefined;
  /** Of a file that is flushed: the others hold nothing that outlives the boot. */
  readonly #inPlace: FileInPlace | undefined;

  constructor({ path, noSync, readOnly = false, clock, log }: LmdbEngineOptions) {
    if (!readOnly) ensureLockFile(path, readersMax);
    this.#pace = clock && new CommitLatency(clock);
    this.#database = open<Uint8Array, Uint8Array>(path, {
      noSubdir: true,
      keyEncoding: "binary",
      encoding: "binary",
      encoder: sharedSlabs,
      pageSize: pageBytes,
      mapSize: mapBytesMax,
      maxReaders: readersMax,
      overlappingSync: false,
      eventTurnBatching: false,
      noSync,
      readOnly,
    });
    Object.assign(this.#database, { readKey: textOfKey });
    // Elsewhere the library makes its file longer itself.
    if (readOnly || process.platform === "win32") return;
    const descriptor = openDataFile(path);
    const oldestReader = (): number | undefined => oldestReaderOf(this.#database.readerList());
    this.#descriptor = descriptor;
    this.#reserve = new PageReserve({ descriptor, keepsReserve: !noSync, oldestReader });
    if (!noSync) this.#inPlace = new FileInPlace({ path, descriptor, log });
  }

  open(): EngineView {
    // Without the reset the library would hand out the state of the start of this turn.
    this.#database.resetReadTxn();
    const transaction = this.#readTransaction();
    return new LmdbView(this.#database, transaction);
  }

  /** Frees the slots of readers that were killed: what they could see would never be reused. */
  checkReaders(): void {
    this.#database.readerCheck();
  }

  /** Writes the latest state to a file that is not there yet, without what is free in it. Commits
   *  go on meanwhile and are not in it. */
  copyTo(path: string): Promise<void> {
    return this.#database.backup(path, true);
  }

  #readTransaction(): ReadTransaction {
    try {
      return this.#database.useReadTransaction();
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("MDB_READERS_FULL")) throw error;
      throw new StoreBusy(`more than ${readersMax} states are being read`, { cause: error });
    }
  }

  async commit(decide: Decide, writesExpected = 0): Promise<void> {
    const pace = this.#pace;
    const began = pace?.begin() ?? 0n;
    const isFew = writesExpected < writesAsideMin;
    const isHere = pace?.isFast === true && isFew && asideCount === 0;
    let writes = 0;
    if (this.#inPlace?.isLost === true) this.#inPlace.expect();
    try {
      writes = isHere ? this.commitSync(decide) : await this.#commitOnThread(decide);
    } finally {
      // What takes long to fail keeps everyone waiting as well.
      pace?.end(began, writes);
    }
    if (writes > 0) this.#inPlace?.expect();
  }

  /** Keeps the process until it is done. What fails in the callback leaves nothing behind. */
  commitSync(decide: Decide): number {
    let refusal: { readonly error: unknown } | undefined;
    let writes = 0;
    try {
      this.#database.transactionSync(() => {
        const current = new LmdbView(this.#database, undefined);
        const batch = attempt(() => this.#admitted(decide(current), current));
        if ("error" in batch) refusal = batch;
        else writes = this.#apply(batch.value, current);
      });
    } catch (error) {
      throw new StoreUnavailable(`could not commit: ${reasonOf(error)}`, { cause: error });
    }
    if (refusal !== undefined) throw refusal.error;
    return writes;
  }

  async #commitOnThread(decide: Decide): Promise<number> {
    let failure: unknown;
    let writes = 0;
    asideCount += 1;
    try {
      await this.#database.transaction(() => {
        try {
          // A callback that throws would still commit what it has put: all is decided first.
          const current = new LmdbView(this.#database, undefined);
          writes = this.#apply(this.#admitted(decide(current), current), current);
        } catch (error) {
          failure = error;
        }
      });
    } catch (error) {
      throw await unavailable(error);
    } finally {
      asideCount -= 1;
    }
    if (failure !== undefined) throw failure;
    return writes;
  }

  async close(): Promise<void> {
    await this.#database.close();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** What there may be no space for is not begun. */
  #admitted(batch: EngineBatch | undefined, current: EngineReader): EngineBatch | undefined {
    if (batch !== undefined) this.#reserve?.admit(batch, current);
    return batch;
  }

  #apply(batch: EngineBatch | undefined, current: EngineReader): number {
    if (batch === undefined) return 0;
    const {
      sequence,
      ticks,
      epoch = current.clockOffset,
      turn = current.priorityOwner,
      writes,
    } = batch;
    const database = this.#database;
    for (const { key, value, revision } of writes) {
      if (value === undefined) void database.remove(key);
      else void database.put(key, withRevision(value, revision));
    }
    void database.put(stateKey, encodeState({ sequence, ticks, epoch, turn }));
    return writes.length;
  }
}

/** A state to read from: that of a read transaction, or the writer's own under its lock. */
class LmdbView implements EngineView {
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly clockOffset: Ticks;
  readonly priorityOwner: number;
  readonly #database: Database;
  readonly #options: ReadOptions;
  #isOpen = true;

  constructor(database: Database, transaction: ReadTransaction | undefined) {
    this.#database = database;
    this.#options = transaction === undefined ? {} : { transaction };
    const state = decodeState(this.#binary(stateKey));
    this.sequence = state.sequence;
    this.ticks = state.ticks;
    this.clockOffset = state.epoch;
    this.priorityOwner = state.turn;
  }

  get(key: Key, text: KeyText): VersionedEntry | undefined {
    const stored = this.#binary(key);
    return stored === undefined ? undefined : copyEntry(key, text, stored);
  }

  close(): void {
    if (this.#isOpen) this.#options.transaction?.done();
    this.#isOpen = false;
  }

  /** Valid until the next read: the library uses one buffer for all, with a length of its own. */
  #binary(key: Key): Uint8Array | undefined {
    const shared = (this.#database as BinaryReader).getBinaryFast(key, this.#options);
    if (shared === undefined) return undefined;
    return new Uint8Array(shared.buffer, shared.byteOffset, shared.length);
  }

  scan({ start, end, reverse }: ScanBounds, countMax: number): VersionedEntry[] {
    const direction = reverse
      ? { start: keyOfText(end), end: keyOfText(start), exclusiveStart: true, inclusiveEnd: true }
      : { start: keyOfText(start), end: keyOfText(end) };
    const found: VersionedEntry[] = [];
    const options = { ...direction, reverse, limit: countMax, ...this.#options };
    for (const { key, value } of this.#database.getRange(options)) {
      found.push(new ScannedEntry(key as unknown as KeyText, value));
    }
    return found;
  }
}

/** The library rejects with an error that carries the promise of the reason. */
async function unavailable(error: unknown): Promise<StoreUnavailable> {
  let cause = error;
  try {
    if (error instanceof Error && "commitError" in error) await error.commitError;
  } catch (reason) {
    cause = reason;
  }
  return new StoreUnavailable(`could not commit: ${reasonOf(cause)}`, { cause });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Attempted<T> = { readonly value: T } | { readonly error: unknown };

function attempt<T>(run: () => T): Attempted<T> {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}
