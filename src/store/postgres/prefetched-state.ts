import type { ScanBounds, VersionedEntry, StateReader, ValueCodec } from "../engine.ts";
import type { KeyText } from "../../encoding/keys.ts";
import type { Key } from "../store.ts";
import type { PrefetchRow } from "./prefetch-query.ts";
import type { PlannedRange, ReadPlan } from "./read-plans.ts";
import { plainBytes, entryOf } from "./rows.ts";
import type { StateHeader } from "./shared-snapshot.ts";

/** The result of a prefetch (one statement for all predicted reads) as a state from which
 *  operations read. It has only the keys and ranges that were predicted (`read-plans.ts`); work
 *  that reads anything else runs again on a full state. */

/** Thrown if work reads something that was not prefetched; it runs again on a full state. */
class NotPrefetched extends Error {
  override readonly name = "NotPrefetched";
}

interface PrefetchedRange extends PlannedRange {
  readonly entries: readonly VersionedEntry[];
  /** `entries` is complete up to this key (excluded), where the limit of the range cut it off. */
  readonly knownUpTo: KeyText;
}

/** The result of one statement, for all operations whose predicted reads it fetched. */
export interface PrefetchResult {
  readonly header: StateHeader;
  /** The fetched keys; the value is `undefined` if the store has no such key. Keys that were not
   *  fetched are missing. */
  readonly keys: ReadonlyMap<KeyText, VersionedEntry | undefined>;
  readonly ranges: readonly PrefetchedRange[];
}

export function prefetchResultOf(
  { keys, ranges }: ReadPlan,
  rows: readonly PrefetchRow[],
  header: StateHeader,
  values?: ValueCodec,
): PrefetchResult {
  const found = new Map<KeyText, VersionedEntry | undefined>();
  const planned = [...keys.values()];
  for (const { text } of planned) found.set(text, undefined);
  const inRanges: VersionedEntry[][] = ranges.map(() => []);
  for (const [kind, position, revision, , head, tail, value] of rows) {
    const index = Number(position) - 1;
    if (kind === 1 && value !== null) {
      const { key, text } = planned[index] as { key: Key; text: KeyText };
      const entry = { key, text, revision: Number(revision), value: plainBytes(value) };
      found.set(text, values === undefined ? entry : values.decodeEntry(entry));
    } else if (kind > 1 && head !== null && tail !== null && value !== null) {
      const entry = entryOf([head, tail, revision, value], values);
      if (kind === 2) inRanges[index]?.push(entry);
      else found.set(entry.text, entry);
    }
  }
  const prefetched = ranges.map((range, index) => prefetchedRange(range, inRanges[index] ?? []));
  return { header, keys: found, ranges: prefetched };
}

/** Makes a range of its rows. Sorts them, because UNION ALL does not guarantee an order. */
function prefetchedRange(range: PlannedRange, rows: readonly VersionedEntry[]): PrefetchedRange {
  const entries = rows.toSorted((one, other) => (one.text < other.text ? -1 : 1));
  const last = entries.length < range.limit ? undefined : entries.at(-1);
  return { ...range, entries, knownUpTo: last === undefined ? range.end : `${last.text}\0` };
}

/** A state of the database of which only the prefetched keys and ranges can be read. */
export class PrefetchedState implements StateReader {
  readonly sequence: number;
  readonly ticks: bigint;
  readonly clockOffset: bigint;
  readonly priorityOwner = 0;
  readonly #result: PrefetchResult;
  /** Whether the work read something that was not prefetched: its result is then not used, even if
   *  it caught the exception. */
  isIncomplete = false;

  constructor(result: PrefetchResult) {
    const { sequence, ticks, clockOffset } = result.header;
    this.sequence = sequence;
    this.ticks = ticks;
    this.clockOffset = clockOffset;
    this.#result = result;
  }

  get(_key: Key, text: KeyText): VersionedEntry | undefined {
    const found = this.#result.keys.get(text);
    return found === undefined && !this.#result.keys.has(text) ? this.#miss() : found;
  }

  scan({ start, end, reverse }: ScanBounds, countMax: number): VersionedEntry[] {
    for (const range of reverse ? [] : this.#result.ranges) {
      if (start < range.start || start > range.knownUpTo) continue;
      const inside = range.entries.filter(({ text }) => text >= start && text < end);
      if (inside.length >= countMax) return inside.slice(0, countMax);
      if (end <= range.knownUpTo) return inside;
    }
    return this.#miss();
  }

  #miss(): never {
    this.isIncomplete = true;
    throw new NotPrefetched("read of a key or range that was not prefetched");
  }
}
