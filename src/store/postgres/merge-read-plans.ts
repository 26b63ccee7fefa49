import type { KeyText } from "../key-text.ts";
import type { PlannedRange, ReadPlan } from "./read-recorder.ts";
import type { PlannedKey } from "./rows.ts";

/** Entries that are fetched per range. A larger result would delay all operations that share the
 *  statement. */
const entriesMax = 512;

/** Merges the plans of independent operations: a range that several request is fetched once. */
export function mergeConcurrent(all: readonly ReadPlan[]): ReadPlan {
  return merged(all, (one, other) => Math.max(one, other));
}

/** Merges the plans of operations that run one after the other and each delete the entries they
 *  read. The limits are added up, and doubled because a scan over deleted entries doubles its chunk
 *  size. */
export function mergeSequential(all: readonly ReadPlan[]): ReadPlan {
  if (all.length === 1) return mergeConcurrent(all);
  const { keys, ranges } = merged(all, (one, other) => one + other);
  const limitOf = ({ limit }: PlannedRange): number => Math.min(2 * limit, entriesMax);
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
