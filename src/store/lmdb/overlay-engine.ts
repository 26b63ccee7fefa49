import type {
  Engine,
  EngineBatch,
  EngineReader,
  EngineView,
  EngineWrite,
  ScanBounds,
  VersionedEntry,
} from "../engine.ts";
import { textOfKey, type KeyText } from "../../encoding/keys.ts";
import { StoreBusy, type Key } from "../store.ts";
import { noRevision } from "./lmdb-engine.ts";
import type { Ticks } from "../../base/ticks.ts";

/** The engine of a store with volatile keys (opens and locks of SMB), made of two LMDB files.
 *  Opening and closing a file over SMB writes such keys all the time, and nothing is lost with them
 *  at a power failure, because the opens are gone then, too: they need no flush, which is the
 *  slowest part of a commit. */

/** The engine of one LMDB file; `OverlayEngine` combines two. */
export interface EngineFile extends Engine {
  /** Commits synchronously, under the lock of the other file. If `decide` throws, writes
   *  nothing. */
  commitSync(decide: (current: EngineReader) => EngineBatch | undefined): number;
  /** Frees the reader slots of killed processes, whose pages could not be reused otherwise. */
  checkReaders(): void;
}

/** The range of volatile keys (SMB opens and locks), which end with the processes that wrote
 *  them. */
interface VolatileRange {
  readonly start: KeyText;
  /** The first key after the range. */
  readonly end: KeyText;
}

export function volatileRange(prefix: Key): VolatileRange {
  const start = textOfKey(prefix);
  const last = start.charCodeAt(start.length - 1);
  if (!(last < 0xff)) throw new RangeError("the last byte of a volatile prefix must be below ff");
  return { start, end: start.slice(0, -1) + String.fromCharCode(last + 1) };
}

function isVolatile({ start, end }: VolatileRange, text: KeyText): boolean {
  return start <= text && text < end;
}

/** Value of a deleted volatile key while the other file may hold an older value of it, which would
 *  otherwise become visible again. */
const tombstone = new Uint8Array(0);

/** Of the entries of a key in both files, returns that with the later revision; `undefined` if it
 *  is a tombstone (mark of a delete). */
function latestEntry(
  durable: VersionedEntry | undefined,
  volatile: VersionedEntry | undefined,
): VersionedEntry | undefined {
  const isDurable =
    volatile === undefined || (durable !== undefined && durable.revision > volatile.revision);
  const found = isDurable ? durable : volatile;
  return found === undefined || found.value.length === 0 ? undefined : found;
}

/** One state of the durable and the volatile file together. */
class OverlayView implements EngineView {
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly clockOffset: Ticks;
  readonly priorityOwner: number;
  readonly #durable: EngineReader;
  readonly #volatile: EngineView;
  readonly #range: VolatileRange;
  readonly #close: () => void;

  constructor(
    durable: EngineReader,
    volatile: EngineView,
    { range, close }: { readonly range: VolatileRange; readonly close: () => void },
  ) {
    this.#durable = durable;
    this.#volatile = volatile;
    this.#range = range;
    this.#close = close;
    this.sequence = Math.max(durable.sequence, volatile.sequence);
    this.ticks = durable.ticks > volatile.ticks ? durable.ticks : volatile.ticks;
    this.clockOffset = durable.clockOffset;
    this.priorityOwner = durable.priorityOwner;
  }

  get(key: Key, text: KeyText): VersionedEntry | undefined {
    const durable = this.#durable.get(key, text);
    return isVolatile(this.#range, text)
      ? latestEntry(durable, this.#volatile.get(key, text))
      : durable;
  }

  scan(bounds: ScanBounds, countMax: number): VersionedEntry[] {
    const { start, end } = this.#range;
    if (bounds.end <= start || bounds.start >= end) return this.#durable.scan(bounds, countMax);
    const found: VersionedEntry[] = [];
    const stepMax = Math.min(countMax, stepEntriesMax);
    for (let rest = bounds; found.length < countMax;) {
      const { entries, next } = this.#step(rest, stepMax);
      found.push(...entries);
      if (next === undefined) break;
      rest = next;
    }
    return found.length > countMax ? found.slice(0, countMax) : found;
  }

  changedSince(sequence: number): (firstByte: number) => boolean {
    const durable = this.#durable.changedSince?.(sequence);
    const volatile = this.#volatile.changedSince?.(sequence);
    return (firstByte) =>
      durable === undefined || durable(firstByte) || volatile === undefined || volatile(firstByte);
  }

  close(): void {
    this.#volatile.close();
    this.#close();
  }

  /** Reads a part of a scan from both files, and merges entries up to the last key both reached. */
  #step(bounds: ScanBounds, countMax: number): Step {
    const durable = this.#durable.scan(bounds, countMax);
    const volatile = this.#volatile.scan(bounds, countMax);
    const reached = firstReached(bounds, lastOf(durable, countMax), lastOf(volatile, countMax));
    const both = new Map(durable.map((entry) => [entry.text, entry]));
    for (const entry of volatile) {
      const other = both.get(entry.text);
      if (other === undefined || other.revision < entry.revision) both.set(entry.text, entry);
    }
    // An empty value is a tombstone only for volatile keys.
    const isPresent = ({ text, value }: VersionedEntry): boolean =>
      value.length > 0 || !isVolatile(this.#range, text);
    const entries = [...both.values()]
      .filter((entry) => isPresent(entry) && isWithin(bounds, entry.text, reached))
      .toSorted((left, right) => (left.text < right.text !== bounds.reverse ? -1 : 1));
    return { entries, next: reached === undefined ? undefined : restAfter(bounds, reached) };
  }
}

interface Step {
  readonly entries: readonly VersionedEntry[];
  readonly next: ScanBounds | undefined;
}

/** Bounds the memory of a scan without a limit. */
const stepEntriesMax = 1000;

/** The last key that a scan of one file has reached; `undefined` if it has reached the end. */
function lastOf(entries: readonly VersionedEntry[], countMax: number): KeyText | undefined {
  return entries.length < countMax ? undefined : entries.at(-1)?.text;
}

function firstReached(
  { reverse }: ScanBounds,
  left: KeyText | undefined,
  right: KeyText | undefined,
): KeyText | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left < right !== reverse ? left : right;
}

function isWithin({ reverse }: ScanBounds, text: KeyText, reached: KeyText | undefined): boolean {
  if (reached === undefined) return true;
  return reverse ? text >= reached : text <= reached;
}

function restAfter(bounds: ScanBounds, reached: KeyText): ScanBounds {
  return bounds.reverse ? { ...bounds, end: reached } : { ...bounds, start: `${reached}\0` };
}

/** Limit of the tries to open both files while other processes commit. */
const opensMax = 1000;
/** How many overlapping keys (those in both files) each commit reconciles at least, that is,
 *  deletes from one file. */
const reconciledMin = 8;
/** How many overlapping keys a commit reconciles per volatile key that it writes. A key takes three
 *  commits (one of each file and a check), so each must examine more keys than it adds: otherwise
 *  their number would grow under load. */
const reconciledPerWrite = 4;
const overlappingMax = 1_000_000;

/**
 * Combines two LMDB files. A batch that changes only volatile keys goes to the *volatile file*,
 * which is never flushed. Any other batch goes to the *durable file* as a whole, including its
 * volatile keys, so that each commit is one commit of one file. If both files hold a volatile key,
 * the later revision counts. A delete is written as a tombstone (an empty value) if the other file
 * may hold an older value.
 *
 * All commits take the write lock of the durable file and share one sequence, so the state is that
 * after the latest commit of either file. The volatile file stores the sequence of the durable file
 * that its last commit follows; a reader whose view of the durable file is older opens both again.
 *
 * Example: a file is created and opened (durable file: lock@7), then closed (volatile file:
 * tombstone@8). The next batch of the durable file removes lock@7, the next batch of the volatile
 * file removes the tombstone.
 */
export class OverlayEngine implements Engine {
  readonly #durable: EngineFile;
  readonly #volatile: EngineFile;
  readonly #range: VolatileRange;
  /** Keys that exist in both files, written by this process: one entry is to be deleted. */
  readonly #overlapping = new Map<KeyText, Key>();

  constructor(durable: EngineFile, volatile: EngineFile, range: VolatileRange) {
    this.#durable = durable;
    this.#volatile = volatile;
    this.#range = range;
  }

  open(): EngineView {
    for (let opens = 0; opens < opensMax; opens += 1) {
      const durable = this.#durable.open();
      const volatile = openVolatile(durable, this.#volatile);
      if (baseSequenceOf(volatile) <= durable.sequence) {
        const close = (): void => durable.close();
        return new OverlayView(durable, volatile, { range: this.#range, close });
      }
      volatile.close();
      durable.close();
    }
    throw new StoreBusy(
      "the durable and the volatile file changed during each attempt to open both",
    );
  }

  commit(
    decide: (current: EngineReader) => EngineBatch | undefined,
    writesExpected?: number,
  ): Promise<void> {
    const work = (files: Files): EngineBatch | undefined => {
      const close = (): void => undefined;
      const { durable, volatile } = files;
      const current = new OverlayView(durable, volatile, { range: this.#range, close });
      const batch = decide(current);
      if (batch === undefined) return undefined;
      if (!this.#isVolatileOnly(batch, current)) return this.#withReconciliation(batch, files);
      this.#commitVolatile(batch, files);
      return undefined;
    };
    return this.#underLock(work, writesExpected);
  }

  /** Deletes the entries in both files that killed processes have left, as far as one of them is
   *  redundant. Only for a process that has the data folder to itself. */
  async reconcileAll(): Promise<void> {
    await this.#underLock((files) => {
      for (const reader of [files.durable, files.volatile]) {
        const found = reader.scan({ ...this.#range, reverse: false }, overlappingMax);
        for (const { key, text } of found) this.#overlapping.set(text, key);
      }
      const writes = this.#reconcile(noWrites, files, "durable", overlappingMax);
      return writes.length === 0 ? undefined : { ...nextOf(files), writes, mayUseReserve: true };
    });
    await this.#underLock((files) => {
      const writes = this.#reconcile(noWrites, files, "volatile", overlappingMax);
      if (writes.length > 0) this.#commitVolatile({ ...nextOf(files), writes }, files);
      return undefined;
    });
  }

  checkReaders(): void {
    this.#durable.checkReaders();
    this.#volatile.checkReaders();
  }

  async close(): Promise<void> {
    await this.#volatile.close();
    await this.#durable.close();
  }

  /** Runs `work` under the write lock of the durable file, which all commits take; what it returns
   *  is committed to that file. */
  #underLock(
    work: (files: Files) => EngineBatch | undefined,
    writesExpected?: number,
  ): Promise<void> {
    const decide = (durable: EngineReader): EngineBatch | undefined => {
      const volatile = this.#volatile.open();
      try {
        return work({ durable, volatile });
      } finally {
        volatile.close();
      }
    };
    return this.#durable.commit(decide, writesExpected);
  }

  #isVolatileOnly(
    { writes, clockOffset, priorityOwner }: EngineBatch,
    current: EngineReader,
  ): boolean {
    if (writes.length === 0 || clockOffset !== undefined) return false;
    if (priorityOwner !== undefined && priorityOwner !== current.priorityOwner) return false;
    return writes.every(({ text }) => isVolatile(this.#range, text));
  }

  #withReconciliation(batch: EngineBatch, files: Files): EngineBatch {
    const writes = batch.writes.map((write) =>
      isVolatile(this.#range, write.text) ? this.#withTombstone(write, files.volatile) : write,
    );
    // Deletes only with a new sequence, by which readers notice that the durable file has changed.
    const hasNewSequence = batch.sequence > files.durable.sequence;
    const reconciled = hasNewSequence
      ? this.#reconcile(batch.writes, files, "durable", this.#reconciledPerBatch(batch))
      : noWrites;
    return { ...batch, writes: [...writes, ...reconciled] };
  }

  #commitVolatile(batch: EngineBatch, files: Files): void {
    const { durable } = files;
    const writes = batch.writes.map((write) => this.#withTombstone(write, durable));
    const reconciled = this.#reconcile(
      batch.writes,
      files,
      "volatile",
      this.#reconciledPerBatch(batch),
    );
    this.#volatile.commitSync(() => ({
      ...batch,
      clockOffset: BigInt(durable.sequence),
      writes: [...writes, ...reconciled],
    }));
  }

  /** Turns a delete into a tombstone (empty value) if the other file holds the key, whose older
   *  value would otherwise become visible again. */
  #withTombstone(write: EngineWrite, other: EngineReader): EngineWrite {
    const { key, text, value } = write;
    if (write.revision === noRevision || other.get(key, text) === undefined) return write;
    this.#overlapping.set(text, key);
    return value === undefined ? { ...write, value: tombstone } : write;
  }

  #reconciledPerBatch({ writes }: EngineBatch): number {
    const own = writes.filter(({ text }) => isVolatile(this.#range, text));
    return Math.max(reconciledMin, reconciledPerWrite * own.length);
  }

  /** Returns deletes of entries in `file` that the other file makes redundant. */
  #reconcile(
    written: readonly EngineWrite[],
    { durable, volatile }: Files,
    file: RedundantFile,
    countMax: number,
  ): readonly EngineWrite[] {
    if (this.#overlapping.size === 0) return noWrites;
    const texts = new Set(written.map(({ text }) => text));
    const removals: EngineWrite[] = [];
    for (const [text, key] of firstOf(this.#overlapping, countMax)) {
      // Moves the key to the end of the map, so that keys that cannot be reconciled yet do not
      // block the keys after them.
      this.#overlapping.delete(text);
      const redundant = redundantIn(durable.get(key, text), volatile.get(key, text));
      const isWritten = texts.has(text);
      if (redundant === "none" && !isWritten) continue;
      this.#overlapping.set(text, key);
      if (redundant === file && !isWritten) {
        removals.push({ key, text, value: undefined, revision: noRevision });
      }
    }
    return removals;
  }
}

interface Files {
  readonly durable: EngineReader;
  readonly volatile: EngineView;
}

/** Opens the volatile file; if that fails, also closes the view of the durable file. */
function openVolatile(durable: EngineView, volatile: EngineFile): EngineView {
  try {
    return volatile.open();
  } catch (error) {
    durable.close();
    throw error;
  }
}

const noWrites: readonly EngineWrite[] = [];

function nextOf({ durable, volatile }: Files): Omit<EngineBatch, "writes"> {
  const sequence = Math.max(durable.sequence, volatile.sequence) + 1;
  return { sequence, ticks: durable.ticks > volatile.ticks ? durable.ticks : volatile.ticks };
}

function firstOf<K, V>(map: ReadonlyMap<K, V>, countMax: number): readonly (readonly [K, V])[] {
  const found: (readonly [K, V])[] = [];
  for (const entry of map) {
    if (found.length >= countMax) break;
    found.push(entry);
  }
  return found;
}

/** Which file's entry of an overlapping key can be deleted. `neither`: the volatile one hides an
 *  older durable one. `none`: the key is in at most one file. */
type RedundantFile = "durable" | "volatile" | "neither" | "none";

function redundantIn(
  durable: VersionedEntry | undefined,
  volatile: VersionedEntry | undefined,
): RedundantFile {
  if (durable === undefined) return volatile?.value.length === 0 ? "volatile" : "none";
  if (volatile === undefined) return durable.value.length === 0 ? "durable" : "none";
  if (durable.revision > volatile.revision) return "volatile";
  return volatile.value.length === 0 ? "durable" : "neither";
}

/** Which commit of the durable file the last one of the volatile file follows, by its sequence. It
 *  is stored as the clock offset, which the volatile file does not need. */
function baseSequenceOf({ clockOffset }: EngineReader): number {
  return Number(clockOffset);
}

/** Whether the volatile file follows a commit that the durable file does not contain: then its
 *  entries may contradict it. */
export function isAheadOf(volatile: EngineFile, durable: EngineFile): boolean {
  const [after, present] = [volatile.open(), durable.open()];
  after.close();
  present.close();
  return baseSequenceOf(after) > present.sequence;
}
