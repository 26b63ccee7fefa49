import type { Ticks } from "../../base/ticks.ts";
import type { EngineReader, EngineView, ScanBounds, VersionedEntry } from "../engine.ts";
import { textOfKey, type KeyText } from "../key-text.ts";
import type { Key } from "../store.ts";

/** The range of volatile keys: they live no longer than the processes that wrote them. */
export interface VolatileRange {
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

export function isVolatile({ start, end }: VolatileRange, text: KeyText): boolean {
  return start <= text && text < end;
}

/** Value of a deleted key while the other file may hold an older value. */
export const tombstone = new Uint8Array(0);

/** The entry with the later revision; `undefined` if that is a tombstone. */
export function latestEntry(
  durable: VersionedEntry | undefined,
  volatile: VersionedEntry | undefined,
): VersionedEntry | undefined {
  const isDurable =
    volatile === undefined || (durable !== undefined && durable.revision > volatile.revision);
  const found = isDurable ? durable : volatile;
  return found === undefined || found.value.length === 0 ? undefined : found;
}

/** One state of the durable and the volatile file. */
export class OverlayView implements EngineView {
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

  close(): void {
    this.#volatile.close();
    this.#close();
  }

  /** Merges the entries up to the last key that was read from both files. */
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

const stepEntriesMax = 1000;

/** Last key read; `undefined` if the file has no more entries in the bounds. */
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
