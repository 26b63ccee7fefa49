import { changedValue, type Change } from "./write-set.ts";
import { tryAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { ScanBounds, StateReader } from "./engine.ts";
import { textOfKey, type KeyText } from "../encoding/keys.ts";
import type { Bounds, Entry, Key, Value, View } from "./store.ts";
import type { Ticks } from "../base/ticks.ts";

/** Scans of key ranges in a state with uncommitted changes on top of it. An `Attempt` reads with
 *  them; snapshots read with `SnapshotView`, which has no changes. */

interface TextEntry extends Entry {
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value;
}

/** A part of a range that was read completely, so that it can be validated at the commit. */
export interface CoveredRange {
  readonly start: KeyText;
  readonly end: KeyText;
}

/** What a scan reads: a state (`base`) and uncommitted changes that override its entries. */
export interface ScanLayers<B extends TextEntry> {
  readonly base: (bounds: ScanBounds, countMax: number) => Awaitable<readonly B[]>;
  /** Changes by earlier transactions of the commit batch, then by this one, which override them. */
  readonly changes: readonly ((bounds: ScanBounds) => readonly Change[])[];
  /** Called for each part of the range before its entries are returned, with those of the base: an
   *  attempt adds them to its read set. */
  readonly onCovered?: (covered: CoveredRange, base: readonly B[]) => void;
}

/** Lowest key that scans return: those before it begin with `00` and belong to the store itself. */
const firstKey: KeyText = "\u0001";
/** How many entries the first read of a scan without a limit has. Each further read has twice as
 *  many: a caller that stops early has then read and validates little. */
const chunkEntriesFirst = 64;
const chunkEntriesMax = 512;

interface Scan {
  readonly reverse: boolean;
  rest: CoveredRange;
  remaining: number;
  chunkEntries: number;
}

/** Reads a range in chunks of growing size, for `View.range`. */
export async function* scanLayers<B extends TextEntry>(
  layers: ScanLayers<B>,
  bounds: Bounds,
): AsyncGenerator<readonly Entry[]> {
  const scan = newScan(bounds, textOfKey(bounds.start));
  while (hasMore(scan)) {
    const found = readChunk(layers, scan);
    const entries = advance(layers, scan, found instanceof Promise ? await found : found);
    if (entries.length > 0) yield entries;
  }
}

/** Reads up to `bounds.limit` entries from `start` on, synchronously if the engine is local. */
export function readLayers<B extends TextEntry>(
  layers: ScanLayers<B>,
  bounds: Bounds,
  start: KeyText,
): Awaitable<readonly TextEntry[]> {
  return continueRead(layers, newScan(bounds, start), []);
}

function continueRead<B extends TextEntry>(
  layers: ScanLayers<B>,
  scan: Scan,
  before: readonly TextEntry[],
): Awaitable<readonly TextEntry[]> {
  let read = before;
  while (hasMore(scan)) {
    const found = readChunk(layers, scan);
    if (found instanceof Promise) {
      const soFar = read;
      return found.then((base) =>
        continueRead(layers, scan, joined(soFar, advance(layers, scan, base))),
      );
    }
    read = joined(read, advance(layers, scan, found));
  }
  return read;
}

function joined(left: readonly TextEntry[], right: readonly TextEntry[]): readonly TextEntry[] {
  if (left.length === 0) return right;
  return right.length === 0 ? left : [...left, ...right];
}

function newScan(bounds: Bounds, start: KeyText): Scan {
  return {
    reverse: bounds.reverse ?? false,
    rest: { start: start < firstKey ? firstKey : start, end: textOfKey(bounds.end) },
    remaining: bounds.limit ?? Infinity,
    chunkEntries: firstChunkOf(bounds),
  };
}

function hasMore({ rest, remaining }: Scan): boolean {
  return rest.start < rest.end && remaining > 0;
}

function readChunk<B extends TextEntry>(
  layers: ScanLayers<B>,
  { rest, reverse, chunkEntries }: Scan,
): Awaitable<readonly B[]> {
  return layers.base({ start: rest.start, end: rest.end, reverse }, chunkEntries);
}

function advance<B extends TextEntry>(
  layers: ScanLayers<B>,
  scan: Scan,
  base: readonly B[],
): readonly TextEntry[] {
  const { rest, reverse } = scan;
  const last = base.length < scan.chunkEntries ? undefined : base.at(-1);
  let covered = coveredUpTo(rest, last?.text, reverse);
  let entries: readonly TextEntry[] = base;
  for (const layer of layers.changes) {
    const bounds = { start: covered.start, end: covered.end, reverse };
    entries = mergeChanges(entries, layer(bounds), reverse);
  }
  if (entries.length >= scan.remaining) {
    if (entries.length > scan.remaining) entries = entries.slice(0, scan.remaining);
    covered = coveredUpTo(covered, entries.at(-1)?.text, reverse);
  }
  layers.onCovered?.(covered, within(base, covered));
  scan.rest = reverse
    ? { start: rest.start, end: covered.start }
    : { start: covered.end, end: rest.end };
  scan.remaining -= entries.length;
  scan.chunkEntries = Math.min(2 * scan.chunkEntries, chunkEntriesMax);
  return entries;
}

/** Size of the first chunk of a scan: the limit if there is one, so that one read suffices. */
export function firstChunkOf({ limit }: Bounds): number {
  return limit === undefined ? chunkEntriesFirst : Math.min(limit, chunkEntriesMax);
}

function coveredUpTo(
  rest: CoveredRange,
  last: KeyText | undefined,
  reverse: boolean,
): CoveredRange {
  if (last === undefined) return rest;
  return reverse ? { start: last, end: rest.end } : { start: rest.start, end: `${last}\0` };
}

function within<B extends TextEntry>(base: readonly B[], covered: CoveredRange): readonly B[] {
  const last = base.at(-1);
  if (last === undefined || (last.text >= covered.start && last.text < covered.end)) return base;
  return base.filter(({ text }) => text >= covered.start && text < covered.end);
}

/** Merges uncommitted changes into entries of a state, both in the direction of the scan; a change
 *  replaces or removes the entry of its key. */
function mergeChanges(
  entries: readonly TextEntry[],
  changes: readonly Change[],
  reverse: boolean,
): readonly TextEntry[] {
  if (changes.length === 0) return entries;
  const merged: TextEntry[] = [];
  let index = 0;
  for (const change of changes) {
    for (; index < entries.length; index += 1) {
      const entry = entries[index] as TextEntry;
      if (reverse ? entry.text <= change.text : entry.text >= change.text) break;
      merged.push(entry);
    }
    const same = entries[index]?.text === change.text ? entries[index] : undefined;
    if (same !== undefined) index += 1;
    const value = changedValue(same?.value, change);
    if (value !== undefined) merged.push({ key: change.key, text: change.text, value });
  }
  for (; index < entries.length; index += 1) merged.push(entries[index] as TextEntry);
  return merged;
}

/** The view of read-only work (`Store.snapshot`): unlike an `Attempt` it records no reads, because
 *  they are not validated. */
export class SnapshotView implements View {
  readonly now: Ticks;
  readonly sequence: number;
  readonly #reader: StateReader;

  constructor(reader: StateReader, now: Ticks) {
    this.#reader = reader;
    this.now = now;
    this.sequence = reader.sequence;
  }

  get(key: Key): Awaitable<Value | undefined> {
    try {
      const found = this.#reader.get(key, textOfKey(key));
      return found instanceof Promise ? found.then(valueOfEntry) : found?.value;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  range(bounds: Bounds): AsyncGenerator<readonly Entry[]> {
    return scanLayers(this.#layers(), bounds);
  }

  readHead(bounds: Bounds): Awaitable<readonly TextEntry[]> {
    return tryAwaitable(() => readLayers(this.#layers(), bounds, textOfKey(bounds.start)));
  }

  #layers(): ScanLayers<TextEntry> {
    const reader = this.#reader;
    return { base: (bounds, countMax) => reader.scan(bounds, countMax), changes: [] };
  }
}

function valueOfEntry(entry: { readonly value: Value } | undefined): Value | undefined {
  return entry?.value;
}
