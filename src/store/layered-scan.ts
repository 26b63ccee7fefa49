import { changedValue } from "./write-set.ts";
import type { Change } from "./write-set.ts";
import type { Awaitable, ScanBounds } from "./engine.ts";
import { textOfKey } from "./key-text.ts";
import type { KeyText } from "./key-text.ts";
import type { Bounds, Entry, Key, Value } from "./store.ts";

interface TextEntry extends Entry {
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value;
}

/** A stretch of a range that was read completely: what lies in `[start, end)` is known. */
export interface Covered {
  readonly start: KeyText;
  readonly end: KeyText;
}

export interface ScanLayers<B extends TextEntry> {
  readonly base: (bounds: ScanBounds, countMax: number) => Awaitable<readonly B[]>;
  /** What changes the base, the later ones on top. */
  readonly changes: readonly ((bounds: ScanBounds) => readonly Change[])[];
  /** Told of every stretch before it is handed out, with what the base holds there. */
  readonly onCovered?: (covered: Covered, base: readonly B[]) => void;
}

/** What lies before belongs to the store itself. */
const firstKey: KeyText = "\u0001";
const chunkEntriesFirst = 64;
const chunkEntriesMax = 512;

/** How far a scan has come. */
interface Scan {
  readonly reverse: boolean;
  rest: Covered;
  remaining: number;
  chunkEntries: number;
}

/** Reads in chunks: a caller who stops early has read, and has to have validated, little. */
export async function* scanLayers<B extends TextEntry>(
  layers: ScanLayers<B>,
  bounds: Bounds,
): AsyncGenerator<readonly Entry[]> {
  const scan = begun(bounds, textOfKey(bounds.start));
  while (goesOn(scan)) {
    const found = readChunk(layers, scan);
    const entries = stepOver(layers, scan, found instanceof Promise ? await found : found);
    if (entries.length > 0) yield entries;
  }
}

/** As many as `bounds` wants, from `start` on; at once if the base answers at once. */
export function takeLayers<B extends TextEntry>(
  layers: ScanLayers<B>,
  bounds: Bounds,
  start: KeyText,
): Awaitable<readonly TextEntry[]> {
  return takeOn(layers, begun(bounds, start), []);
}

function takeOn<B extends TextEntry>(
  layers: ScanLayers<B>,
  scan: Scan,
  before: readonly TextEntry[],
): Awaitable<readonly TextEntry[]> {
  let taken = before;
  while (goesOn(scan)) {
    const found = readChunk(layers, scan);
    if (found instanceof Promise) {
      const soFar = taken;
      return found.then((base) =>
        takeOn(layers, scan, joined(soFar, stepOver(layers, scan, base))),
      );
    }
    taken = joined(taken, stepOver(layers, scan, found));
  }
  return taken;
}

function joined(left: readonly TextEntry[], right: readonly TextEntry[]): readonly TextEntry[] {
  if (left.length === 0) return right;
  return right.length === 0 ? left : [...left, ...right];
}

function begun(bounds: Bounds, start: KeyText): Scan {
  return {
    reverse: bounds.reverse ?? false,
    rest: { start: start < firstKey ? firstKey : start, end: textOfKey(bounds.end) },
    remaining: bounds.limit ?? Infinity,
    chunkEntries: firstChunkOf(bounds),
  };
}

function goesOn({ rest, remaining }: Scan): boolean {
  return rest.start < rest.end && remaining > 0;
}

function readChunk<B extends TextEntry>(
  layers: ScanLayers<B>,
  { rest, reverse, chunkEntries }: Scan,
): Awaitable<readonly B[]> {
  return layers.base({ start: rest.start, end: rest.end, reverse }, chunkEntries);
}

function stepOver<B extends TextEntry>(
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
    entries = overlaid(entries, layer(bounds), reverse);
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

/** Who says how many are wanted gets them at once. */
export function firstChunkOf({ limit }: Bounds): number {
  return limit === undefined ? chunkEntriesFirst : Math.min(limit, chunkEntriesMax);
}

function coveredUpTo(rest: Covered, last: KeyText | undefined, reverse: boolean): Covered {
  if (last === undefined) return rest;
  return reverse ? { start: last, end: rest.end } : { start: rest.start, end: `${last}\0` };
}

function within<B extends TextEntry>(base: readonly B[], covered: Covered): readonly B[] {
  const last = base.at(-1);
  if (last === undefined || (last.text >= covered.start && last.text < covered.end)) return base;
  return base.filter(({ text }) => text >= covered.start && text < covered.end);
}

/** Merges two lists of the same direction; a change replaces or removes the entry at its key. */
function overlaid(
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
