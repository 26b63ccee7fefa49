import type { Ticks } from "../../base/ticks.ts";
import type { EngineReader, EngineView, ScanBounds, VersionedEntry } from "../engine.ts";
import { textOfKey, type KeyText } from "../key-text.ts";
import type { Key } from "../store.ts";

/** The keys that begin so live no longer than the processes that wrote them. */
export interface VolatileRange {
  readonly start: KeyText;
  /** Left out. */
  readonly end: KeyText;
}

export function volatileRange(prefix: Key): VolatileRange {
  const start = textOfKey(prefix);
  const last = start.charCodeAt(start.length - 1);
  if (!(last < 0xff)) throw new RangeError("a prefix of volatile keys ends below ff");
  return { start, end: start.slice(0, -1) + String.fromCharCode(last + 1) };
}

export function isVolatile({ start, end }: VolatileRange, text: KeyText): boolean {
  return start <= text && text < end;
}

/** What stands for a key that is gone, where the other file may still hold something older. */
export const tombstone = new Uint8Array(0);

/** Of what the two files hold at a key the later counts. */
export function latestEntry(
  kept: VersionedEntry | undefined,
  passing: VersionedEntry | undefined,
): VersionedEntry | undefined {
  const isKept = passing === undefined || (kept !== undefined && kept.revision > passing.revision);
  const found = isKept ? kept : passing;
  return found === undefined || found.value.length === 0 ? undefined : found;
}

/** One state, part of which lies in a file that is flushed and part in one that is not. */
export class OverlayView implements EngineView {
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly clockOffset: Ticks;
  readonly priorityOwner: number;
  readonly #durable: EngineReader;
  readonly #passing: EngineView;
  readonly #range: VolatileRange;
  readonly #close: () => void;

  constructor(
    durable: EngineReader,
    passing: EngineView,
    { range, close }: { readonly range: VolatileRange; readonly close: () => void },
  ) {
    this.#durable = durable;
    this.#passing = passing;
    this.#range = range;
    this.#close = close;
    this.sequence = Math.max(durable.sequence, passing.sequence);
    this.ticks = durable.ticks > passing.ticks ? durable.ticks : passing.ticks;
    this.clockOffset = durable.clockOffset;
    this.priorityOwner = durable.priorityOwner;
  }

  get(key: Key, text: KeyText): VersionedEntry | undefined {
    const kept = this.#durable.get(key, text);
    return isVolatile(this.#range, text) ? latestEntry(kept, this.#passing.get(key, text)) : kept;
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

  close(): void {
    this.#passing.close();
    this.#close();
  }

  /** Merges up to where both files were looked at. */
  #step(bounds: ScanBounds, countMax: number): Step {
    const kept = this.#durable.scan(bounds, countMax);
    const passing = this.#passing.scan(bounds, countMax);
    const seen = soonest(bounds, lastOf(kept, countMax), lastOf(passing, countMax));
    const both = new Map(kept.map((entry) => [entry.text, entry]));
    for (const entry of passing) {
      const other = both.get(entry.text);
      if (other === undefined || other.revision < entry.revision) both.set(entry.text, entry);
    }
    // Among keys that last, an empty value is a value like any other.
    const isThere = ({ text, value }: VersionedEntry): boolean =>
      value.length > 0 || !isVolatile(this.#range, text);
    const entries = [...both.values()]
      .filter((entry) => isThere(entry) && isWithin(bounds, entry.text, seen))
      .toSorted((left, right) => (left.text < right.text !== bounds.reverse ? -1 : 1));
    return { entries, next: seen === undefined ? undefined : restAfter(bounds, seen) };
  }
}

interface Step {
  readonly entries: readonly VersionedEntry[];
  readonly next: ScanBounds | undefined;
}

const stepEntriesMax = 1000;

/** Nothing if the file holds no more. */
function lastOf(entries: readonly VersionedEntry[], countMax: number): KeyText | undefined {
  return entries.length < countMax ? undefined : entries.at(-1)?.text;
}

function soonest(
  { reverse }: ScanBounds,
  left: KeyText | undefined,
  right: KeyText | undefined,
): KeyText | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left < right !== reverse ? left : right;
}

function isWithin({ reverse }: ScanBounds, text: KeyText, seen: KeyText | undefined): boolean {
  if (seen === undefined) return true;
  return reverse ? text >= seen : text <= seen;
}

function restAfter(bounds: ScanBounds, seen: KeyText): ScanBounds {
  return bounds.reverse ? { ...bounds, end: seen } : { ...bounds, start: `${seen}\0` };
}
