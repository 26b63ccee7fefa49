import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Awaitable } from "../../base/awaitable.ts";
import type { VersionedEntry } from "../engine.ts";
import { textOfKey, type KeyText } from "../../encoding/keys.ts";
import type { Bounds, Entry, Key, IndexTarget, Value, View } from "../store.ts";
import { firstChunkOf } from "../layered-scan.ts";
import type { PlannedKey } from "./rows.ts";
import { RecentMap } from "../../process/memo.ts";

/** Predicts which keys an operation will read, for `prefetcher.ts`: a dry run of the operation
 *  (`prefetch`) reads cached, possibly stale values (`ReadCache`), and the keys it asks for are
 *  recorded. Plans of several operations are merged. */

export interface PlannedRange {
  readonly start: KeyText;
  readonly end: KeyText;
  readonly limit: number;
  readonly indexTarget: IndexTarget | undefined;
}

/** The predicted reads of an operation, which one statement fetches. */
export interface ReadPlan {
  readonly keys: ReadonlyMap<KeyText, PlannedKey>;
  readonly ranges: readonly PlannedRange[];
}

interface PlanReadsOptions {
  readonly readCache: ReadCache;
  readonly now: Ticks;
  readonly prefetch: (view: View) => Awaitable<unknown>;
}

/** Limit of the keys of a plan; more than any operation on a single resource reads. */
const keysMax = 256;
const rangesMax = 16;
/** Longer ranges are not prefetched: they are read in chunks while the response is sent. */
const rangeEntriesMax = 64;
/** Dry runs get the end of the next minute as store time: the operation runs a little later, and
 *  concurrent operations get equal plans, which are merged. */
const planningStep: Ticks = 60n * ticksPerSecond;

/** Predicts the reads of an operation by a dry run. Returns `undefined` if it would read nothing,
 *  or too much for one statement. */
export async function planReads(options: PlanReadsOptions): Promise<ReadPlan | undefined> {
  const recorder = new ReadRecorder(
    options.readCache,
    (options.now / planningStep + 2n) * planningStep,
  );
  try {
    await options.prefetch(recorder);
  } catch {
    // The dry run reads cached, possibly stale values, so it may throw. The keys requested until
    // then are the plan.
  }
  const { keys, ranges, isTooLarge } = recorder;
  return isTooLarge || keys.size === 0 ? undefined : { keys, ranges };
}

/** The view of the dry run: records what is read, and returns cached values. */
class ReadRecorder implements View {
  readonly now: Ticks;
  readonly sequence = 0;
  readonly keys = new Map<KeyText, PlannedKey>();
  readonly ranges: PlannedRange[] = [];
  readonly #readCache: ReadCache;
  isTooLarge = false;

  constructor(readCache: ReadCache, now: Ticks) {
    this.#readCache = readCache;
    this.now = now;
  }

  get(key: Key): Value | undefined {
    const text = textOfKey(key);
    if (this.keys.size < keysMax) this.keys.set(text, { key, text });
    else this.isTooLarge = true;
    return this.#readCache.get(text);
  }

  // oxlint-disable-next-line require-yield -- an empty range is one, too.
  async *range(bounds: Bounds): AsyncGenerator<readonly Entry[]> {
    this.readHead(bounds);
  }

  /** Records the range and returns no entries: ranges change too often to be cached. */
  readHead(bounds: Bounds): readonly Entry[] {
    const limit = firstChunkOf(bounds);
    const isAllowed = limit <= rangeEntriesMax && this.ranges.length < rangesMax;
    if (!isAllowed || bounds.reverse === true) {
      this.isTooLarge = true;
      return [];
    }
    const [start, end] = [textOfKey(bounds.start), textOfKey(bounds.end)];
    this.ranges.push({ start, end, limit, indexTarget: bounds.indexTarget });
    return [];
  }
}

/** Limit of the entries that are fetched per range: a larger result would delay all operations that
 *  share the statement. */
const plannedEntriesMax = 512;

/** Merges the plans of concurrent operations: a range that several request is fetched once. */
export function mergeConcurrent(all: readonly ReadPlan[]): ReadPlan {
  return merged(all, (one, other) => Math.max(one, other));
}

/** Merges the plans of operations that run one after the other, each of which may delete the
 *  entries it reads. The limits of ranges are added up, and doubled because a scan over deleted
 *  entries doubles its chunk size. */
export function mergeSequential(all: readonly ReadPlan[]): ReadPlan {
  if (all.length === 1) return mergeConcurrent(all);
  const { keys, ranges } = merged(all, (one, other) => one + other);
  const limitOf = ({ limit }: PlannedRange): number => Math.min(2 * limit, plannedEntriesMax);
  return { keys, ranges: ranges.map((range) => ({ ...range, limit: limitOf(range) })) };
}

function merged(all: readonly ReadPlan[], join: (one: number, other: number) => number): ReadPlan {
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  const keys = new Map<KeyText, PlannedKey>();
  const ranges = new Map<string, PlannedRange>();
  for (const plan of all) {
    for (const [text, key] of plan.keys) keys.set(text, key);
    for (const range of plan.ranges) {
      const name = `${range.start.length} ${range.start}${range.end}`;
      const limit = join(ranges.get(name)?.limit ?? 0, range.limit);
      ranges.set(name, { ...range, limit });
    }
  }
  return { keys, ranges: [...ranges.values()] };
}

/** Bounds the memory of `ReadCache` to 32 MiB, with `valueBytesMax`. */
const cachedEntriesMax = 8192;
/** Longer values are not cached: they contain content, not references to other keys. */
const valueBytesMax = 4096;

interface CachedValue {
  readonly revision: number;
  readonly value: Value;
}

/** Cache of recently read values, possibly stale. Used only to predict which keys an operation
 *  reads, never as its input. */
export class ReadCache {
  readonly #recent = new RecentMap<CachedValue>(cachedEntriesMax);

  get(text: KeyText): Value | undefined {
    return this.#recent.get(text)?.value;
  }

  put({ text, revision, value }: VersionedEntry): void {
    if (value.length > valueBytesMax || this.#recent.get(text)?.revision === revision) return;
    // A copy: the value is a view of the buffer of the whole result, which would stay in memory.
    this.#recent.set(text, { revision, value: value.slice() });
  }

  delete(text: KeyText): void {
    this.#recent.delete(text);
  }
}
