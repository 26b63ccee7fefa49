import { ticksPerSecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Awaitable } from "../engine.ts";
import { textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import { firstChunkOf } from "../layered-scan.ts";
import type { Bounds, Entry, Key, IndexTarget, Value, View } from "../store.ts";
import type { ReadCache } from "./read-cache.ts";
import type { WantedKey } from "./rows.ts";

export interface WantedRange {
  readonly start: KeyText;
  readonly end: KeyText;
  readonly limit: number;
  readonly indexTarget: IndexTarget | undefined;
}

/** What a piece of work is going to read, as far as that can be guessed. */
export interface ReadPlan {
  readonly keys: ReadonlyMap<KeyText, WantedKey>;
  readonly ranges: readonly WantedRange[];
}

export interface RehearsalOptions {
  readonly memory: ReadCache;
  readonly now: Ticks;
  readonly prefetch: (view: View) => Awaitable<unknown>;
}

/** More than any operation on one thing reads. */
const keysMax = 256;
const rangesMax = 16;
/** A longer stretch is better read piece by piece, while it is handed out. */
const rangeEntriesMax = 64;
/** Who asks for all up to now is going to ask some time later; callers who come together ask alike,
 *  so that what they want is looked up once. */
const ahead: Ticks = 60n * ticksPerSecond;

/** Undefined if the work is not one that can be foreseen. */
export async function planReads(options: RehearsalOptions): Promise<ReadPlan | undefined> {
  const rehearsal = new ReadRecorder(options.memory, (options.now / ahead + 2n) * ahead);
  try {
    await options.prefetch(rehearsal);
  } catch {
    // It was tried on something that may never have been: what it has asked for is all there is.
  }
  const { keys, ranges, isTooMuch } = rehearsal;
  return isTooMuch || keys.size === 0 ? undefined : { keys, ranges };
}

class ReadRecorder implements View {
  readonly now: Ticks;
  readonly sequence = 0;
  readonly keys = new Map<KeyText, WantedKey>();
  readonly ranges: WantedRange[] = [];
  readonly #memory: ReadCache;
  isTooMuch = false;

  constructor(memory: ReadCache, now: Ticks) {
    this.#memory = memory;
    this.now = now;
  }

  get(key: Key): Value | undefined {
    const text = textOfKey(key);
    if (this.keys.size < keysMax) this.keys.set(text, { key, text });
    else this.isTooMuch = true;
    return this.#memory.get(text);
  }

  // oxlint-disable-next-line require-yield -- an empty range is one, too.
  async *range(bounds: Bounds): AsyncGenerator<readonly Entry[]> {
    this.take(bounds);
  }

  /** Shows nothing: what lies there changes too often to be remembered. */
  take(bounds: Bounds): readonly Entry[] {
    const limit = firstChunkOf(bounds);
    const isFit = limit <= rangeEntriesMax && this.ranges.length < rangesMax;
    if (!isFit || bounds.reverse === true) {
      this.isTooMuch = true;
      return [];
    }
    const [start, end] = [textOfKey(bounds.start), textOfKey(bounds.end)];
    this.ranges.push({ start, end, limit, indexTarget: bounds.indexTarget });
    return [];
  }
}
