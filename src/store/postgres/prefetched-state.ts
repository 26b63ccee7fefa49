import type { ScanBounds, VersionedEntry, StateReader } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import type { Key } from "../store.ts";
import type { PrefetchRow } from "./prefetch-query.ts";
import type { WantedRange, ReadPlan } from "./read-recorder.ts";
import { plainBytes, scanned } from "./rows.ts";
import type { StateHeader } from "./shared-snapshot.ts";

/** Work asked for what nobody foresaw: it has to run again where everything can be read. */
class NotPrefetched extends Error {
  override readonly name = "Unforeseen";
}

interface FoundRange extends WantedRange {
  readonly entries: readonly VersionedEntry[];
  /** Everything up to here is among the entries. */
  readonly knownUpTo: KeyText;
}

/** All that one statement brought, for everyone whose wishes went into it. */
export interface PrefetchResult {
  readonly moment: StateHeader;
  /** A key that was wished for and is not there is undefined; others are missing. */
  readonly keys: ReadonlyMap<KeyText, VersionedEntry | undefined>;
  readonly ranges: readonly FoundRange[];
}

export function foreseenOf(
  { keys, ranges }: ReadPlan,
  rows: readonly PrefetchRow[],
  moment: StateHeader,
): PrefetchResult {
  const found = new Map<KeyText, VersionedEntry | undefined>();
  const wanted = [...keys.values()];
  for (const { text } of wanted) found.set(text, undefined);
  const inRanges: VersionedEntry[][] = ranges.map(() => []);
  for (const [kind, place, revision, , head, tail, value] of rows) {
    const index = Number(place) - 1;
    if (kind === 1 && value !== null) {
      const { key, text } = wanted[index] as { key: Key; text: KeyText };
      found.set(text, { key, text, revision: Number(revision), value: plainBytes(value) });
    } else if (kind > 1 && head !== null && tail !== null && value !== null) {
      const entry = scanned([head, tail, revision, value]);
      if (kind === 2) inRanges[index]?.push(entry);
      else found.set(entry.text, entry);
    }
  }
  const told = ranges.map((range, index) => foundRange(range, inRanges[index] ?? []));
  return { moment, keys: found, ranges: told };
}

/** The order in which a statement gives its rows is promised by nobody. */
function foundRange(range: WantedRange, rows: readonly VersionedEntry[]): FoundRange {
  const entries = rows.toSorted((one, other) => (one.text < other.text ? -1 : 1));
  const last = entries.length < range.limit ? undefined : entries.at(-1);
  return { ...range, entries, knownUpTo: last === undefined ? range.end : `${last.text}\0` };
}

/** A state of which only what was foreseen is at hand. */
export class PrefetchedState implements StateReader {
  readonly sequence: number;
  readonly ticks: bigint;
  readonly clockOffset: bigint;
  readonly priorityOwner = 0;
  readonly #foreseen: PrefetchResult;
  /** Something else was asked for, whatever became of that. */
  isShort = false;

  constructor(foreseen: PrefetchResult) {
    const { sequence, ticks, clockOffset } = foreseen.moment;
    this.sequence = sequence;
    this.ticks = ticks;
    this.clockOffset = clockOffset;
    this.#foreseen = foreseen;
  }

  get(_key: Key, text: KeyText): VersionedEntry | undefined {
    const found = this.#foreseen.keys.get(text);
    return found === undefined && !this.#foreseen.keys.has(text) ? this.#fallShort() : found;
  }

  scan({ start, end, reverse }: ScanBounds, countMax: number): VersionedEntry[] {
    for (const range of reverse ? [] : this.#foreseen.ranges) {
      if (start < range.start || start > range.knownUpTo) continue;
      const inside = range.entries.filter(({ text }) => text >= start && text < end);
      if (inside.length >= countMax) return inside.slice(0, countMax);
      if (end <= range.knownUpTo) return inside;
    }
    return this.#fallShort();
  }

  #fallShort(): never {
    this.isShort = true;
    throw new NotPrefetched("asked for what was not foreseen");
  }
}
