import { isThreadCommitting, whileThreadCommits } from "../../process/thread-commits.ts";
import { closeSync } from "node:fs";
import {
  open,
  type RangeOptions,
  type RootDatabase,
  type Transaction as ReadTransaction,
} from "lmdb";
import type {
  Engine,
  EngineBatch,
  EngineReader,
  EngineView,
  EngineWrite,
  ScanBounds,
  VersionedEntry,
  StateFacts,
} from "../engine.ts";
import { keyOfText, textOfKey, type KeyText } from "../../encoding/keys.ts";
import { StoreBusy, StoreUnavailable, type Key, type Value } from "../store.ts";
import { ticksPerMillisecond, type Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import { copyBytes } from "../../process/bytes.ts";
import {
  ensureLockFile,
  FileIdentityCheck,
  oldestReaderOf,
  openDataFile,
  pageBytes,
  PageReserve,
} from "./data-file.ts";

/** The engine on the LMDB library: one file, memory-mapped, with one writer at a time among all
 *  processes. `open-lmdb-store.ts` opens it. It chooses between commits on the event loop and on a
 *  thread, and keeps the revision of each value. */

/** Length of the revision (number of the transaction that wrote it) before each stored value. */
const revisionBytes = 8;
/** Key of the record with sequence and time of the state. Keys from `00` on are the store's own. */
const stateKey = new Uint8Array([0, 1]);
/** Revision of a delete in a file of `OverlayEngine` that changes nothing readers see. */
export const noRevision = 0;
/** Offset of 256 numbers in the state record: for each first byte of keys, the sequence of the last
 *  commit that changed a key with it, for watchers. Records of earlier releases end before it. */
const changesOffset = revisionBytes + 20;
const changeBytes = 8;
const stateBytes = changesOffset + 256 * changeBytes;
const twoToThe32 = 0x1_0000_0000;

/** An entry of a scan. Its key is computed from the text on demand: most callers never read it. */
class ScannedEntry implements VersionedEntry {
  readonly text: KeyText;
  readonly value: Value;
  readonly revision: number;

  constructor(text: KeyText, stored: Uint8Array) {
    const { buffer, byteOffset, length } = stored;
    this.text = text;
    this.value = new Uint8Array(buffer, byteOffset + revisionBytes, length - revisionBytes);
    this.revision = readRevision(stored);
  }

  get key(): Key {
    return keyOfText(this.text);
  }
}

/** Copies an entry from the library's buffer, which the next read overwrites. */
function copyEntry(key: Key, text: KeyText, stored: Uint8Array): VersionedEntry {
  return { key, text, value: copyBytes(stored, revisionBytes), revision: readRevision(stored) };
}

/** A buffer from which the LMDB library takes only the bytes from `start` to `end` as a value, so
 *  that one buffer serves values of any length. */
interface ValueBuffer extends Buffer {
  start: number;
  end: number;
}

function newValueBuffer(length: number): ValueBuffer {
  return Object.assign(Buffer.allocUnsafeSlow(length), { start: 0, end: 0 });
}

/** Puts each value with its revision (number of its transaction) into the same buffer, which saves
 *  an allocation per write: inside a transaction the library copies it before `put` returns. */
class StoredValues {
  #buffer = newValueBuffer(valueBytesMin);

  of(value: Value, revision: number): Uint8Array {
    const end = revisionBytes + value.length;
    if (end > this.#buffer.length) this.#buffer = newValueBuffer(2 * end);
    const stored = this.#buffer;
    writeRevision(stored, revision);
    stored.set(value, revisionBytes);
    stored.end = end;
    return stored;
  }
}

/** Initial length of the buffer: longer than nearly all records. */
const valueBytesMin = 8 * 1024;

/** Encodes the state record, which every commit writes: sequence, time, and which first bytes of
 *  keys were changed last when. */
function encodeState(
  { sequence, ticks, clockOffset, priorityOwner }: StateFacts,
  before: Uint8Array | undefined,
  writes: readonly EngineWrite[],
): Uint8Array {
  const stored = Buffer.allocUnsafe(stateBytes);
  if (before?.length === stateBytes) stored.set(before);
  else {
    // An earlier release has not recorded changes: every key may have changed up to the present
    // state.
    const latest = before === undefined ? 0 : readRevision(before);
    for (let at = changesOffset; at < stateBytes; at += changeBytes)
      stored.writeDoubleLE(latest, at);
  }
  for (const { text, revision } of writes) {
    const at = changesOffset + changeBytes * text.charCodeAt(0);
    if (revision !== noRevision) stored.writeDoubleLE(sequence, at);
  }
  writeRevision(stored, sequence);
  stored.writeBigUInt64LE(ticks, revisionBytes);
  stored.writeBigInt64LE(clockOffset, revisionBytes + 8);
  stored.writeUInt32LE(priorityOwner, revisionBytes + 16);
  return stored;
}

function decodeState(stored: Uint8Array | undefined): StateFacts {
  if (stored === undefined) return { sequence: 0, ticks: 0n, clockOffset: 0n, priorityOwner: 0 };
  const view = new DataView(stored.buffer, stored.byteOffset, stored.length);
  return {
    sequence: readRevision(stored),
    ticks: view.getBigUint64(revisionBytes, true),
    clockOffset: view.getBigInt64(revisionBytes + 8, true),
    priorityOwner: view.getUint32(revisionBytes + 16, true),
  };
}

/** Reads from the state record whether keys with a first byte were changed after a sequence. */
function changesOf(
  stored: Uint8Array | undefined,
  sequence: number,
): (firstByte: number) => boolean {
  if (stored === undefined) return () => false;
  if (stored.length !== stateBytes) return () => true;
  const changes = new DataView(stored.slice().buffer, changesOffset);
  return (firstByte) => changes.getFloat64(changeBytes * firstByte, true) > sequence;
}

function readRevision(stored: Uint8Array): number {
  return readUint32(stored, 0) + readUint32(stored, 4) * twoToThe32;
}

function readUint32(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
  return low + (bytes[at + 3] ?? 0) * 0x100_0000;
}

function writeRevision(stored: Buffer, revision: number): void {
  stored.writeUInt32LE(revision % twoToThe32, 0);
  stored.writeUInt32LE(Math.floor(revision / twoToThe32), 4);
}

interface LmdbEngineOptions {
  readonly path: string;
  /** Whether the file is never flushed: for data that is lost with the boot. */
  readonly noSync: boolean;
  /** Whether the file is opened only to be read: it must exist, and commits fail. */
  readonly readOnly?: boolean;
  /** Measures commits, so that fast ones run synchronously; without a clock all run on a thread. */
  readonly clock?: Clock;
  /** Logs that the data file was deleted while it was open. */
  readonly log?: Log;
}

/** Copies values into shared blocks of memory (`copyBytes`): the library would allocate a buffer
 *  for every value of a range. For keys, its `readKey` is replaced by one that returns text. */
const sharedSlabs = {
  encode: (value: Uint8Array): Uint8Array => value,
  decode: (bytes: Uint8Array, length = bytes.length): Uint8Array => copyBytes(bytes, 0, length),
};

type Decide = (current: EngineReader) => EngineBatch | undefined;
type Database = RootDatabase<Uint8Array, Uint8Array>;
interface ReadOptions {
  readonly transaction?: ReadTransaction;
}
/** The library's method to read a value without a copy; its types omit the transaction. */
interface BinaryReader {
  getBinaryFast(key: Key, options: ReadOptions): Uint8Array | undefined;
}

/** Size of the memory map, the limit of the file. It takes only address space. */
const mapBytesMax = 256 * 2 ** 30;
/** Limit of the open views of all processes: LMDB's lock file has a slot for each. */
const readersMax = 4096;
/** Commits with at least this many writes run on a thread, while the event loop continues. */
const threadWritesMin = 24;

/** One LMDB file. `overlappingSync` is off: it would make a commit visible to other processes
 *  before it is durable. */
export class LmdbEngine implements Engine {
  readonly #database: Database;
  readonly #latency: CommitLatency | undefined;
  readonly #values = new StoredValues();
  #descriptor: number | undefined;
  readonly #reserve: PageReserve | undefined;
  /** Undefined for a file that is never flushed: its content need not outlive the process. */
  readonly #fileCheck: FileIdentityCheck | undefined;

  constructor({ path, noSync, readOnly = false, clock, log }: LmdbEngineOptions) {
    if (!readOnly) ensureLockFile(path, readersMax);
    this.#latency = clock && new CommitLatency(clock);
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
    // On Windows the library itself extends the file, before it writes to it.
    if (readOnly || process.platform === "win32") return;
    const descriptor = openDataFile(path);
    const oldestReader = (): number | undefined => oldestReaderOf(this.#database.readerList());
    this.#descriptor = descriptor;
    this.#reserve = new PageReserve({ descriptor, keepsReserve: !noSync, oldestReader });
    if (!noSync) this.#fileCheck = new FileIdentityCheck({ path, descriptor, log });
  }

  open(): EngineView {
    // Without this, the library would return the state at the start of this event-loop iteration.
    this.#database.resetReadTxn();
    const transaction = this.#readTransaction();
    return new LmdbView(this.#database, transaction);
  }

  /** Frees the reader slots of killed processes. Otherwise the pages that they could see would
   *  never be reused. Called every 30 s. */
  checkReaders(): void {
    this.#database.readerCheck();
  }

  /** Throws `StoreUnavailable` if commits are rejected because the file was deleted or replaced. */
  checkFile(): void {
    this.#fileCheck?.check();
  }

  get entryCount(): number {
    const { entryCount } = this.#database.getStats() as { readonly entryCount?: number };
    return entryCount ?? 0;
  }

  /** Writes the latest state, without free pages, to a new file, for a backup. Commits continue
   *  meanwhile and are not part of it. */
  copyTo(path: string): Promise<void> {
    return this.#database.backup(path, true);
  }

  #readTransaction(): ReadTransaction {
    try {
      return this.#database.useReadTransaction();
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("MDB_READERS_FULL")) throw error;
      throw new StoreBusy(`more than ${readersMax} open views`, { cause: error });
    }
  }

  async commit(decide: Decide, writesExpected = 0): Promise<void> {
    const latency = this.#latency;
    const startedAt = latency?.begin() ?? 0n;
    const isSmall = writesExpected < threadWritesMin;
    const isSync = latency?.isFast === true && isSmall && !isThreadCommitting();
    let writes = 0;
    if (this.#fileCheck?.isLost === true) this.#fileCheck.check();
    try {
      writes = isSync ? this.commitSync(decide) : await this.#commitOnThread(decide);
    } finally {
      // A failed commit counts, too: a slow one blocks the event loop as well.
      latency?.end(startedAt, writes);
    }
    if (writes > 0) this.#fileCheck?.check();
  }

  /** Commits synchronously, on the event loop. If `decide` throws, nothing is written. */
  commitSync(decide: Decide): number {
    let rejection: { readonly error: unknown } | undefined;
    let writes = 0;
    try {
      this.#database.transactionSync(() => {
        const current = new LmdbView(this.#database, undefined);
        const batch = capture(() => this.#reserveSpace(decide(current), current));
        if ("error" in batch) rejection = batch;
        else writes = this.#apply(batch.value, current);
      });
    } catch (error) {
      throw new StoreUnavailable(`commit failed: ${reasonOf(error)}`, { cause: error });
    }
    if (rejection !== undefined) throw rejection.error;
    return writes;
  }

  async #commitOnThread(decide: Decide): Promise<number> {
    let failure: unknown;
    let writes = 0;
    const transaction = this.#database.transaction.bind(this.#database, () => {
      try {
        // The library commits the puts of a callback that throws, so everything that may throw
        // comes before the first put.
        const current = new LmdbView(this.#database, undefined);
        writes = this.#apply(this.#reserveSpace(decide(current), current), current);
      } catch (error) {
        failure = error;
      }
    });
    try {
      await whileThreadCommits(transaction);
    } catch (error) {
      throw await unavailable(error);
    }
    if (failure !== undefined) throw failure;
    return writes;
  }

  async close(): Promise<void> {
    await this.#database.close();
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Throws `StoreFull` before anything is written if the disk may lack space for the commit. */
  #reserveSpace(batch: EngineBatch | undefined, current: EngineReader): EngineBatch | undefined {
    if (batch !== undefined) this.#reserve?.admit(batch, current);
    return batch;
  }

  #apply(batch: EngineBatch | undefined, current: EngineReader): number {
    if (batch === undefined) return 0;
    const {
      sequence,
      ticks,
      clockOffset = current.clockOffset,
      priorityOwner = current.priorityOwner,
      writes,
    } = batch;
    const database = this.#database;
    for (const { key, value, revision } of writes) {
      if (value === undefined) void database.remove(key);
      else void database.put(key, this.#values.of(value, revision));
    }
    const state = { sequence, ticks, clockOffset, priorityOwner };
    const before = readBinary(database, stateKey, {});
    void database.put(stateKey, encodeState(state, before, writes));
    return writes.length;
  }
}

/** A readable state of the file: that of a read transaction, or the latest one while this process
 *  has the write lock. */
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
    this.clockOffset = state.clockOffset;
    this.priorityOwner = state.priorityOwner;
  }

  get(key: Key, text: KeyText): VersionedEntry | undefined {
    const stored = this.#binary(key);
    return stored === undefined ? undefined : copyEntry(key, text, stored);
  }

  changedSince(sequence: number): (firstByte: number) => boolean {
    return changesOf(this.#binary(stateKey), sequence);
  }

  close(): void {
    if (this.#isOpen) this.#options.transaction?.done();
    this.#isOpen = false;
  }

  #binary(key: Key): Uint8Array | undefined {
    return readBinary(this.#database, key, this.#options);
  }

  scan({ start, end, reverse }: ScanBounds, countMax: number): VersionedEntry[] {
    const found: VersionedEntry[] = [];
    const options = {
      start: keyOfText(reverse ? end : start),
      end: keyOfText(reverse ? start : end),
      exclusiveStart: reverse,
      inclusiveEnd: reverse,
      reverse,
      limit: countMax,
      transaction: this.#options.transaction,
    };
    for (const { key, value } of this.#database.getRange(options as RangeOptions)) {
      found.push(new ScannedEntry(key as unknown as KeyText, value));
    }
    return found;
  }
}

/** Reads a value; valid until the next read, because the library uses one buffer for all values. */
function readBinary(database: Database, key: Key, options: ReadOptions): Uint8Array | undefined {
  const shared = (database as BinaryReader).getBinaryFast(key, options);
  if (shared === undefined) return undefined;
  return new Uint8Array(shared.buffer, shared.byteOffset, shared.length);
}

/** The library rejects with an error whose `commitError` is a promise of the cause. */
async function unavailable(error: unknown): Promise<StoreUnavailable> {
  let cause = error;
  try {
    if (error instanceof Error && "commitError" in error) await error.commitError;
  } catch (reason) {
    cause = reason;
  }
  return new StoreUnavailable(`commit failed: ${reasonOf(cause)}`, { cause });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Captured<T> = { readonly value: T } | { readonly error: unknown };

function capture<T>(run: () => T): Captured<T> {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}

/** Commits may run on the event loop while their average duration is at most 3 ms, which delays
 *  other requests little. */
export const fastTicksMax = 3n * ticksPerMillisecond;
/** By how much each write may lengthen a commit that still counts as fast: 20 µs. */
export const writeTicksMax = ticksPerMillisecond / 50n;
/** The latest commit has a weight of 1/8 in the average: a single delayed one has little effect. */
const averagedCommits = 8;

/** Decides whether commits to an LMDB file may run on the event loop. Handing a commit to another
 *  thread and being woken by it costs more than flushing it to a fast disk: synchronous commits are
 *  40 % faster with one connection (docs/bench/README.md). With a slow disk, or while another
 *  process holds the write lock, blocking would delay all readers of the process. */
export class CommitLatency {
  readonly #clock: Clock;
  #averageTicks = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFast(): boolean {
    return this.#averageTicks <= Number(fastTicksMax);
  }

  begin(): Ticks {
    return this.#clock.monotonic();
  }

  end(startedAt: Ticks, writes: number): void {
    const elapsed = this.#clock.monotonic() - startedAt - BigInt(writes) * writeTicksMax;
    this.#averageTicks += (Math.max(0, Number(elapsed)) - this.#averageTicks) / averagedCommits;
  }
}
