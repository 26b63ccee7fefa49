import type { Ticks } from "../../base/ticks.ts";

/** Which pages of a page blob were cleared, and when, as its record keeps it for Get Page Ranges
 *  Diff. */

/** A range of pages that was cleared, as byte offsets, with the time of the last clear. A page that
 *  was written and cleared after a snapshot is as empty as in the snapshot; only this list tells
 *  Get Page Ranges Diff of the change. */
export type ClearedRange = readonly [from: number, end: number, at: Ticks];

/** Most cleared ranges that a blob's record keeps, so that it stays small. Beyond it, the two that
 *  are closest to each other are joined, with the pages between them. A diff lists only those of
 *  the pages that are empty, so that a client that clears them changes nothing. */
const clearedRangesMax = 64;

/** Adds a range that was cleared after the given ranges. The result is ordered by offset, without
 *  overlaps. */
export function addCleared(
  ranges: readonly ClearedRange[] | undefined,
  added: ClearedRange,
): readonly ClearedRange[] {
  const [from, end] = added;
  const merged: ClearedRange[] = [];
  for (const [otherFrom, otherEnd, at] of ranges ?? []) {
    if (otherFrom < from) merged.push([otherFrom, Math.min(otherEnd, from), at]);
    if (otherEnd > end) merged.push([Math.max(otherFrom, end), otherEnd, at]);
  }
  merged.push(added);
  merged.sort(([one], [other]) => one - other);
  while (merged.length > clearedRangesMax) joinClosest(merged);
  return merged;
}

function joinClosest(ranges: ClearedRange[]): void {
  let closest = 1;
  const gap = (index: number) => ranges[index]![0] - ranges[index - 1]![1];
  for (let index = 2; index < ranges.length; index += 1) {
    if (gap(index) < gap(closest)) closest = index;
  }
  const [from, , before] = ranges[closest - 1]!;
  const [, end, after] = ranges[closest]!;
  ranges.splice(closest - 1, 2, [from, end, before > after ? before : after]);
}

export function clearedSince(
  ranges: readonly ClearedRange[] | undefined,
  time: Ticks,
): readonly ClearedRange[] {
  return ranges?.filter(([, , at]) => at > time) ?? [];
}
