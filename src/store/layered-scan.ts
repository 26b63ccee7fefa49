import { changedValue } from "./changes.ts";
import type { Change } from "./changes.ts";
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

/** Reads in chunks: a caller who stops early has read, and has to have validated, little. */
export async function* scanLayers<B extends TextEntry>(
  layers: ScanLayers<B>,
  bounds: Bounds,
): AsyncGenerator<readonly Entry[]> {
  const reverse = bounds.reverse ?? false;
  const start = textOfKey(bounds.start);
  let rest: Covered = { start: start < firstKey ? firstKey : start, end: textOfKey(bounds.end) };
  let remaining = bounds.limit ?? Infinity;
  let chunkEntries = firstChunkOf(bounds);
  while (rest.start < rest.end && remaining > 0) {
    const found = layers.base({ ...rest, reverse }, chunkEntries);
    const base = found instanceof Promise ? await found : found;
    const last = base.length < chunkEntries ? undefined : base.at(-1);
    let covered = coveredUpTo(rest, last?.text, reverse);
    let entries: readonly TextEntry[] = base;
    for (const layer of layers.changes) {
      entries = overlaid(entries, layer({ ...covered, reverse }), reverse);
    }
    if (entries.length >= remaining) {
      entries = entries.slice(0, remaining);
      covered = coveredUpTo(covered, entries.at(-1)?.text, reverse);
    }
    layers.onCovered?.(covered, within(base, covered));
    rest = reverse
      ? { start: rest.start, end: covered.start }
      : { start: covered.end, end: rest.end };
    remaining -= entries.length;
    chunkEntries = Math.min(2 * chunkEntries, chunkEntriesMax);
    if (entries.length > 0) yield entries;
  }
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
