import type { ContentRef, Slice } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { RecordView } from "../../operation/view.ts";
import { sectorBytes } from "../shared/limits.ts";

/** The bytes from `from` up to, not including, `to`. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The slices of a file in a span. */
export async function slicesOf(
  view: RecordView,
  content: ContentRef,
  { from, length }: Span,
): Promise<readonly Slice[]> {
  const found: Slice[] = [];
  if (length <= 0) return found;
  for await (const slices of view.slices(content, from, length)) found.push(...slices);
  return found;
}

/** Rounds intervals outwards to whole sectors, at most up to `end`, and merges those that touch.
 *  `intervals` is ordered by offset. */
export function sectorsOf(intervals: readonly Interval[], end: number): readonly Interval[] {
  const merged: Interval[] = [];
  for (const { from, to } of intervals) {
    const start = Math.floor(from / sectorBytes) * sectorBytes;
    const stop = Math.min(Math.ceil(to / sectorBytes) * sectorBytes, end);
    const last = merged.at(-1);
    if (last !== undefined && last.to >= start) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, stop) };
    } else if (stop > start) merged.push({ from: start, to: stop });
  }
  return merged;
}

export function intervalsOf(slices: readonly Slice[]): readonly Interval[] {
  return slices.map(({ at, length }) => ({ from: at, to: at + length }));
}

/** The parts of the first list that are not in the second; both are ordered. */
export function subtract(
  whole: readonly Interval[],
  taken: readonly Interval[],
): readonly Interval[] {
  const left: Interval[] = [];
  let next = 0;
  for (const { from, to } of whole) {
    let at = from;
    while (next < taken.length && taken[next]!.to <= at) next += 1;
    for (let index = next; index < taken.length && taken[index]!.from < to; index += 1) {
      const cut = taken[index]!;
      if (cut.from > at) left.push({ from: at, to: cut.from });
      at = Math.max(at, cut.to);
    }
    if (at < to) left.push({ from: at, to });
  }
  return left;
}

/** Ranges in which two states of a file refer to the same stored bytes. Bytes that compaction moved
 *  between the two states count as changed, so the result may omit an unchanged range, but never
 *  includes a changed one. */
export function sameBytes(
  present: readonly Slice[],
  previous: readonly Slice[],
): readonly Interval[] {
  const same: Interval[] = [];
  let [left, right] = [0, 0];
  while (left < present.length && right < previous.length) {
    const [now, then] = [present[left]!, previous[right]!];
    const from = Math.max(now.at, then.at);
    const to = Math.min(now.at + now.length, then.at + then.length);
    if (from < to && isSameInterval(now, then, { from, to })) same.push({ from, to });
    if (now.at + now.length <= then.at + then.length) left += 1;
    else right += 1;
  }
  return same;
}

function isSameInterval(left: Slice, right: Slice, { from, to }: Interval): boolean {
  const [a, b] = [left.source, right.source];
  if ("extent" in a && "extent" in b) {
    return a.extent === b.extent && a.offset - left.at === b.offset - right.at;
  }
  if (!("bytes" in a && "bytes" in b)) return false;
  for (let at = from; at < to; at += 1) {
    if (a.bytes[at - left.at] !== b.bytes[at - right.at]) return false;
  }
  return true;
}
