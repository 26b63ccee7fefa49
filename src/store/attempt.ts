import { mapAwaitable } from "../base/awaitable.ts";
import { keyBytesMax } from "../encoding/keys.ts";
import type { Ticks } from "../base/ticks.ts";
import { WriteSet, changedValue, combine } from "./write-set.ts";
import type { Change } from "./write-set.ts";
import type { Awaitable, EngineReader, ScanBounds, VersionedEntry, StateReader } from "./engine.ts";
import { textOfKey } from "./key-text.ts";
import type { KeyText } from "./key-text.ts";
import type { HeadRead } from "./range-heads.ts";
import { scanLayers, takeLayers } from "./layered-scan.ts";
import type { Covered, ScanLayers } from "./layered-scan.ts";
import type { BatchChanges } from "./batch-changes.ts";
import type { Bounds, Entry, Key, LimitedBounds, Transaction, Value } from "./store.ts";

/** A change of a transaction that is about to commit, and everyone it is made of. */
export type BatchChange = Change & { readonly writers: Attempt[] };

/** Engines keep their own records there. */
const reservedFirstByte = 0;

export interface KeyRead {
  readonly key: Key;
  /** Zero if there was nothing. */
  readonly revision: number;
  readonly value: Value | undefined;
}

export interface RangeRead extends Covered {
  readonly entries: readonly VersionedEntry[];
}

/**
 * One run of a transaction's work: it reads a state of the engine, with what earlier transactions
 * of the same batch are about to write (`shared`) and its own changes on top, and remembers what it
 * saw of the first two.
 */
export class Attempt implements Transaction {
  readonly now: Ticks;
  readonly sequence: number;
  readonly changes = new WriteSet<Change>();
  /** Those whose uncommitted changes this attempt has seen: it stands and falls with them. */
  #dependencies: Set<Attempt> | undefined;
  readonly #reader: StateReader;
  readonly #shared: BatchChanges | undefined;
  readonly #keyReads = new Map<KeyText, KeyRead>();
  readonly #rangeReads: RangeRead[] = [];
  #takes: readonly HeadRead[] = nothingTaken;
  /** The last key that was read: what is written next is often there. */
  #lastKey: Key | undefined;
  #lastText: KeyText = "";
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

  take(bounds: LimitedBounds): Awaitable<readonly Entry[]> {
    const start = textOfKey(bounds.start);
    // What it has changed itself is not what those after it build on.
    const isAhead = this.changes.isEmpty && bounds.reverse !== true;
    const front = isAhead ? this.#shared?.fronts.at(start) : undefined;
    if (front !== undefined) this.#dependOn(front.by);
    try {
      const taken = takeLayers(this.#layers(), bounds, front?.end ?? start);
      if (!isAhead) return taken;
      return mapAwaitable(taken, (entries) => {
        const texts = entries.map(({ text }) => text);
        const isShort = entries.length < bounds.limit;
        const end = isShort ? textOfKey(bounds.end) : `${texts.at(-1)}\0`;
        const known = front !== undefined && front.end > end ? front.end : end;
        this.#takes = [...this.#takes, { start, texts, end: known }];
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

  get dependencies(): ReadonlySet<Attempt> {
    return this.#dependencies ?? onNobody;
  }

  get keyReads(): ReadonlyMap<KeyText, KeyRead> {
    return this.#keyReads;
  }

  get takes(): readonly HeadRead[] {
    return this.#takes;
  }

  get rangeReads(): readonly RangeRead[] {
    return this.#rangeReads;
  }

  /** Whatever the work left running can no longer read or write. */
  end(): void {
    this.#ended = true;
  }

  /** Whether something it read is among changes that it did not see. */
  conflictsWith(changes: WriteSet<Change>): boolean {
    if (changes.isEmpty) return false;
    for (const text of this.#keyReads.keys()) if (changes.get(text) !== undefined) return true;
    return this.#rangeReads.some(({ start, end }) =>
      changes.intersects({ start, end, reverse: false }),
    );
  }

  /** Whether something it read of the engine is no longer what `current` holds. */
  isStaleAgainst(current: EngineReader): boolean {
    for (const [text, read] of this.#keyReads) {
      if ((current.get(read.key, text)?.revision ?? 0) !== read.revision) return true;
    }
    return this.#rangeReads.some((read) => !holdsTheSame(current, read));
  }

  /** What cannot be had is told in the same way, at once or later. */
  #tryToRead(key: Key, remember: boolean): Awaitable<Value | undefined> {
    try {
      return this.#read(key, remember);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #textOf(key: Key): KeyText {
    return key === this.#lastKey ? this.#lastText : textOfKey(key);
  }

  #read(key: Key, remember: boolean): Awaitable<Value | undefined> {
    this.#checkRunning();
    const text = textOfKey(key);
    this.#lastKey = key;
    this.#lastText = text;
    const own = this.changes.get(text);
    if (own !== undefined && own.kind !== "add") return changedValue(undefined, own);
    const below = this.#readBelow(key, text, remember);
    if (below instanceof Promise) return below.then((value) => overlaid(value, own));
    return overlaid(below, own);
  }

  #readBelow(key: Key, text: KeyText, remember: boolean): Awaitable<Value | undefined> {
    const shared = this.#shared?.changes.get(text);
    if (shared !== undefined && remember) this.#dependOnAll(shared.writers);
    if (shared !== undefined && shared.kind !== "add") return changedValue(undefined, shared);
    const before = this.#keyReads.get(text);
    if (before !== undefined) return overlaid(before.value, shared);
    const found = this.#reader.get(key, text);
    if (found instanceof Promise) {
      return found.then((base) => overlaid(this.#seen(key, text, base, remember), shared));
    }
    return overlaid(this.#seen(key, text, found, remember), shared);
  }

  #seen(
    key: Key,
    text: KeyText,
    base: VersionedEntry | undefined,
    remember: boolean,
  ): Value | undefined {
    const value = base?.value;
    if (remember) this.#keyReads.set(text, { key, revision: base?.revision ?? 0, value });
    return value;
  }

  #layers(): ScanLayers<VersionedEntry> {
    const shared = this.#shared?.changes;
    let seen: readonly BatchChange[] = [];
    const below = (bounds: ScanBounds): readonly BatchChange[] =>
      (seen = shared?.scan(bounds) ?? seen);
    const own = (bounds: ScanBounds): readonly Change[] => this.changes.scan(bounds);
    return {
      base: (part, countMax) => {
        this.#checkRunning();
        return this.#reader.scan(part, countMax);
      },
      changes: [below, own],
      onCovered: ({ start, end }, entries) => {
        this.#rangeReads.push({ start, end, entries });
        for (const { text, writers } of seen) {
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

  #change(change: Change): void {
    this.#checkRunning();
    const { key } = change;
    if (key.length === 0 || key.length > keyBytesMax || key[0] === reservedFirstByte) {
      throw new RangeError(`a key must have 1 to ${keyBytesMax} bytes and not start with 00`);
    }
    this.changes.set(combine(this.changes.get(change.text), change));
  }

  #checkRunning(): void {
    if (this.#ended) throw new Error("a transaction was used after its work had ended");
  }
}

const nothingTaken: readonly HeadRead[] = [];
const onNobody: ReadonlySet<Attempt> = new Set();

function overlaid(value: Value | undefined, change: Change | undefined): Value | undefined {
  return change === undefined ? value : changedValue(value, change);
}

function holdsTheSame(current: EngineReader, read: RangeRead): boolean {
  const { start, end, entries } = read;
  const found = current.scan({ start, end, reverse: false }, entries.length + 1);
  if (found.length !== entries.length) return false;
  const isReversed = (entries[0]?.text ?? "") > (entries.at(-1)?.text ?? "");
  return found.every((entry, index) => {
    const before = entries[isReversed ? entries.length - 1 - index : index];
    return before?.text === entry.text && before.revision === entry.revision;
  });
}
