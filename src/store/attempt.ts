import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { keyBytesMax, textOfKey, type KeyText } from "../encoding/keys.ts";
import type { Ticks } from "../base/ticks.ts";
import {
  changedValue,
  combine,
  WriteSet,
  type BatchChanges,
  type Change,
  type HeadRead,
  type KeyChange,
} from "./write-set.ts";
import type { EngineReader, ScanBounds, VersionedEntry, StateReader } from "./engine.ts";
import { appendsMax } from "./logs.ts";
import type { Bounds, Entry, Key, LimitedBounds, Transaction, Value } from "./store.ts";
import { scanLayers, readLayers, type CoveredRange, type ScanLayers } from "./layered-scan.ts";

/** What a transaction of the store reads and writes while its work runs, and the comparison of what
 *  it has read with later states. `Transactions` (`transactional-store.ts`) runs the first attempt,
 *  `Committer` repeats those that conflict. */

/** An uncommitted change of a commit batch (transactions committed by one write), and the attempts
 *  that made it: one for a put or delete, all that added for a counter. */
export type BatchChange = KeyChange & { readonly writers: Attempt[] };

/** First byte of the keys that the engine itself uses, which transactions must not write. */
const reservedFirstByte = 0;

interface KeyRead {
  readonly key: Key;
  /** Revision (number of the last write) of the entry that was read; 0 if there was none. */
  readonly revision: number;
  readonly value: Value | undefined;
}

/** A range that an attempt read, with the entries it found; they must be the same at the commit. */
interface RangeRead extends CoveredRange {
  readonly entries: readonly VersionedEntry[];
}

/** One execution of a transaction's work. It reads a state of the engine, overlaid with the
 *  uncommitted changes (`shared`) of earlier transactions that are committed together with it, and
 *  with its own. It records its read set: the keys and ranges it read from the engine, and the
 *  attempts whose changes it read. */
export class Attempt implements Transaction {
  readonly now: Ticks;
  readonly sequence: number;
  readonly changes = new WriteSet<Change>();
  /** Attempts of the same commit batch whose uncommitted changes this one has read. If one of them
   *  conflicts, so does this one. */
  #dependencies: Set<Attempt> | undefined;
  readonly #reader: StateReader;
  readonly #shared: BatchChanges | undefined;
  readonly #keyReads = new Map<KeyText, KeyRead>();
  readonly #rangeReads: RangeRead[] = [];
  #headReads: readonly HeadRead[] = noHeadReads;
  /** The last key that was read, and its text: operations often write the key that they have just
   *  read, and computing a text costs more than comparing the array. */
  #lastKey: Key | undefined;
  #lastText: KeyText = "";
  #appends = 0;
  #ended = false;

  constructor(reader: StateReader, now: Ticks, shared?: BatchChanges) {
    this.#reader = reader;
    this.now = now;
    this.sequence = reader.sequence;
    this.#shared = shared;
  }

  get(key: Key): Awaitable<Value | undefined> {
    return this.#tryToRead(key, true);
  }

  peek(key: Key): Awaitable<Value | undefined> {
    return this.#tryToRead(key, false);
  }

  range(bounds: Bounds): AsyncIterable<readonly Entry[]> {
    return scanLayers(this.#layers(), bounds);
  }

  readHead(bounds: LimitedBounds): Awaitable<readonly Entry[]> {
    const start = textOfKey(bounds.start);
    // Range heads (first keys not deleted by the batch) ignore this attempt's own changes, so they
    // apply only while it has none.
    const mayUseHead = this.changes.isEmpty && bounds.reverse !== true;
    const head = mayUseHead ? this.#shared?.heads.at(start) : undefined;
    if (head !== undefined) this.#dependOn(head.establishedBy);
    try {
      const read = readLayers(this.#layers(), bounds, head?.end ?? start);
      if (!mayUseHead) return read;
      return mapAwaitable(read, (entries) => {
        const texts = entries.map(({ text }) => text);
        const isExhausted = entries.length < bounds.limit;
        const end = isExhausted ? textOfKey(bounds.end) : `${texts.at(-1)}\0`;
        const knownEnd = head !== undefined && head.end > end ? head.end : end;
        this.#headReads = [...this.#headReads, { start, texts, end: knownEnd }];
        return entries;
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  put(key: Key, value: Value): void {
    this.#change({ kind: "put", key, text: this.#textOf(key), value });
  }

  delete(key: Key): void {
    this.#change({ kind: "delete", key, text: this.#textOf(key) });
  }

  add(counter: Key, delta: bigint): void {
    this.#change({ kind: "add", key: counter, text: textOfKey(counter), delta });
  }

  append(log: Key, value: Value): void {
    const number = this.#appends;
    if (number === appendsMax) throw new RangeError(`more than ${appendsMax} appends`);
    this.#appends += 1;
    // The key contains the sequence of the commit, so it is not known yet. This text replaces it;
    // it is in no range that is read, because no key has the byte ff there.
    const text = `${textOfKey(log)}\u00ff${number}`;
    this.#checkWrite(log);
    this.changes.set({ kind: "append", key: log, text, value, number });
  }

  get dependencies(): ReadonlySet<Attempt> {
    return this.#dependencies ?? noDependencies;
  }

  get keyReads(): ReadonlyMap<KeyText, KeyRead> {
    return this.#keyReads;
  }

  get headReads(): readonly HeadRead[] {
    return this.#headReads;
  }

  get rangeReads(): readonly RangeRead[] {
    return this.#rangeReads;
  }

  /** Called when the work has returned: every later read or write through this attempt throws. */
  end(): void {
    this.#ended = true;
  }

  /** Whether this attempt has read a key or range that `changes`, which it did not see, contain. */
  conflictsWith(changes: WriteSet<Change>): boolean {
    if (changes.isEmpty) return false;
    for (const text of this.#keyReads.keys()) if (changes.get(text) !== undefined) return true;
    return this.#rangeReads.some(({ start, end }) =>
      changes.intersects({ start, end, reverse: false }),
    );
  }

  /** Whether a key that this attempt read has another revision (number of its last write) in
   *  `current`, or a range other entries: then the attempt conflicts. */
  isStaleAgainst(current: EngineReader): boolean {
    for (const [text, { key, revision }] of this.#keyReads) {
      if ((current.get(key, text)?.revision ?? 0) !== revision) return true;
    }
    return this.#rangeReads.some((read) => !isUnchanged(current, read));
  }

  /** Whether this attempt has read uncommitted changes of one of `attempts`, which conflict. */
  dependsOnAny(attempts: ReadonlySet<Attempt>): boolean {
    if (attempts.size === 0) return false;
    for (const each of this.dependencies) if (attempts.has(each)) return true;
    return false;
  }

  /** Converts a synchronous throw into a rejected promise, so that callers handle local and remote
   *  engines alike. */
  #tryToRead(key: Key, isValidated: boolean): Awaitable<Value | undefined> {
    try {
      return this.#read(key, isValidated);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #textOf(key: Key): KeyText {
    return key === this.#lastKey ? this.#lastText : textOfKey(key);
  }

  #read(key: Key, isValidated: boolean): Awaitable<Value | undefined> {
    this.#checkRunning();
    const text = textOfKey(key);
    this.#lastKey = key;
    this.#lastText = text;
    const own = this.changes.get(text);
    if (own !== undefined && own.kind !== "add") return changedValue(undefined, own);
    const below = this.#readBelow(key, text, isValidated);
    if (below instanceof Promise) return below.then((value) => overlaid(value, own));
    return overlaid(below, own);
  }

  #readBelow(key: Key, text: KeyText, isValidated: boolean): Awaitable<Value | undefined> {
    const shared = this.#shared?.changes.get(text);
    if (shared !== undefined && isValidated) this.#dependOnAll(shared.writers);
    if (shared !== undefined && shared.kind !== "add") return changedValue(undefined, shared);
    const before = this.#keyReads.get(text);
    if (before !== undefined) return overlaid(before.value, shared);
    const found = this.#reader.get(key, text);
    if (found instanceof Promise) {
      return found.then((base) => overlaid(this.#recordRead(key, text, base, isValidated), shared));
    }
    return overlaid(this.#recordRead(key, text, found, isValidated), shared);
  }

  #recordRead(
    key: Key,
    text: KeyText,
    base: VersionedEntry | undefined,
    isValidated: boolean,
  ): Value | undefined {
    const value = base?.value;
    if (isValidated) this.#keyReads.set(text, { key, revision: base?.revision ?? 0, value });
    return value;
  }

  #layers(): ScanLayers<VersionedEntry> {
    const shared = this.#shared?.changes;
    let scanned: readonly BatchChange[] = [];
    const below = (bounds: ScanBounds): readonly BatchChange[] =>
      (scanned = shared?.scan(bounds) ?? scanned);
    const own = (bounds: ScanBounds): readonly Change[] => this.changes.scan(bounds);
    return {
      base: (part, countMax) => {
        this.#checkRunning();
        return this.#reader.scan(part, countMax);
      },
      changes: [below, own],
      onCovered: ({ start, end }, entries) => {
        this.#rangeReads.push({ start, end, entries });
        for (const { text, writers } of scanned) {
          if (text >= start && text < end) this.#dependOnAll(writers);
        }
      },
    };
  }

  #dependOnAll(writers: readonly Attempt[]): void {
    for (const writer of writers) this.#dependOn(writer);
  }

  #dependOn(writer: Attempt): void {
    this.#dependencies ??= new Set();
    this.#dependencies.add(writer);
  }

  #change(change: KeyChange): void {
    this.#checkWrite(change.key);
    this.changes.set(combine(this.changes.get(change.text), change));
  }

  #checkWrite(key: Key): void {
    this.#checkRunning();
    if (key.length === 0 || key.length > keyBytesMax || key[0] === reservedFirstByte) {
      throw new RangeError(`key must have 1 to ${keyBytesMax} bytes and not start with 00`);
    }
  }

  #checkRunning(): void {
    if (this.#ended) throw new Error("transaction was used after its work had ended");
  }
}

const noHeadReads: readonly HeadRead[] = [];
const noDependencies: ReadonlySet<Attempt> = new Set();

function overlaid(value: Value | undefined, change: Change | undefined): Value | undefined {
  return change === undefined ? value : changedValue(value, change);
}

/** Whether a range still has the entries that were read, in ascending or descending order. */
function isUnchanged(current: EngineReader, read: RangeRead): boolean {
  const { start, end, entries } = read;
  const found = current.scan({ start, end, reverse: false }, entries.length + 1);
  if (found.length !== entries.length) return false;
  const isReversed = (entries[0]?.text ?? "") > (entries.at(-1)?.text ?? "");
  return found.every((entry, index) => {
    const before = entries[isReversed ? entries.length - 1 - index : index];
    return before?.text === entry.text && before.revision === entry.revision;
  });
}
