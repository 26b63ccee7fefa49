import type { KeyText } from "../key-text.ts";
import type { WantedRange, ReadPlan } from "./read-recorder.ts";
import type { WantedKey } from "./rows.ts";

/** A statement that brings more would hold up everyone whose wishes went into it. */
const entriesMax = 512;

/** Of callers who do not know of each other: whoever wants the same gets the same. */
export function mergeConcurrent(all: readonly ReadPlan[]): ReadPlan {
  return merged(all, (one, other) => Math.max(one, other));
}

/** Of callers who come one after another, each of whom takes away what it finds. Who looks for what
 *  is left asks for twice as much each time, and so for up to twice as much as there is to pass. */
export function mergeSequential(all: readonly ReadPlan[]): ReadPlan {
  if (all.length === 1) return mergeConcurrent(all);
  const { keys, ranges } = merged(all, (one, other) => one + other);
  const limitOf = ({ limit }: WantedRange): number => Math.min(2 * limit, entriesMax);
  return { keys, ranges: ranges.map((range) => ({ ...range, limit: limitOf(range) })) };
}

function merged(all: readonly ReadPlan[], join: (one: number, other: number) => number): ReadPlan {
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  const keys = new Map<KeyText, WantedKey>();
  const ranges = new Map<string, WantedRange>();
  for (const wishes of all) {
    for (const [text, wanted] of wishes.keys) keys.set(text, wanted);
    for (const range of wishes.ranges) {
      const name = `${range.start.length} ${range.start}${range.end}`;
      const limit = join(ranges.get(name)?.limit ?? 0, range.limit);
      ranges.set(name, { ...range, limit });
    }
  }
  return { keys, ranges: [...ranges.values()] };
}
