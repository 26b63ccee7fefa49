import { ticksPerSecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Awaitable } from "../engine.ts";
import { textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import { firstChunkOf } from "../layered-scan.ts";
import type { Bounds, Entry, Key, IndexTarget, Value, View } from "../store.ts";
import type { ReadCache } from "./read-cache.ts";
import type { PlannedKey } from "./rows.ts";

export interface PlannedRange {
  readonly start: KeyText;
  readonly end: KeyText;
  readonly limit: number;
  readonly indexTarget: IndexTarget | undefined;
}

/** The predicted reads of an operation. */
export interface ReadPlan {
  readonly keys: ReadonlyMap<KeyText, PlannedKey>;
  readonly ranges: readonly PlannedRange[];
}

export interface PlanReadsOptions {
  readonly readCache: ReadCache;
  readonly now: Ticks;
  readonly prefetch: (view: View) => Awaitable<unknown>;
}

/** Keys of a plan; more than any operation on a single resource reads. */
const keysMax = 256;
const rangesMax = 16;
/** Longer ranges are not prefetched: they are read in chunks while the response is sent. */
const rangeEntriesMax = 64;
/** Plans use the end of the next minute as the current time. An operation that reads everything due
 *  until now runs a little later; and concurrent operations have equal plans, which are merged. */
const planningStep: Ticks = 60n * ticksPerSecond;

/** Predicts the reads of an operation by a dry run. Returns `undefined` if there are none or too
 *  many. */
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
