import type { LockRequest, ByteSpan } from "./byte-ranges.ts";

/** The locks that a list of requests is compared with. Both are sorted first: comparing each of
 *  10,000 requests with each of 10,000 locks takes a second, the sorted lists take a few
 *  milliseconds. */
export interface HeldRanges {
  /** All locks of the file. */
  readonly held: readonly ByteSpan[];
  /** Exclusive locks of other handles. */
  readonly foreign: readonly ByteSpan[];
}

/** Whether any request is denied if all are granted in order. Gives the same result as checking
 *  each request against the locks before it. */
export function isListDenied(requests: readonly LockRequest[], against: HeldRanges): boolean {
  const exclusive: Indexed[] = [];
  const shared: Indexed[] = [];
  for (const [index, request] of requests.entries()) {
    const { offset, length } = request;
    (request.exclusive ? exclusive : shared).push({ offset, length, index });
  }
  const sorted = exclusive.toSorted(byOffset);
  if (anyOverlap(sorted, sorted)) return true;
  if (anyOverlap(sorted, against.held.toSorted(byOffset))) return true;
  if (anyOverlap(shared.toSorted(byOffset), against.foreign.toSorted(byOffset))) return true;
  return hasLaterExclusive(shared, sorted);
}

interface Indexed extends ByteSpan {
  /** Index in the list of requests. */
  readonly index: number;
}

/** By offset, then by length: an empty span sorts before other spans at its offset, which it does
 *  not overlap. */
function byOffset(left: ByteSpan, right: ByteSpan): number {
  if (left.offset !== right.offset) return left.offset < right.offset ? -1 : 1;
  if (left.length === right.length) return 0;
  return left.length < right.length ? -1 : 1;
}

/** Whether a span of one list overlaps a span of the other. Both are sorted. A list that is
 *  compared with itself must not have two overlapping spans. */
function anyOverlap(left: readonly ByteSpan[], right: readonly ByteSpan[]): boolean {
  if (left === right) return overlapsItself(left);
  let leftEnd = -1n;
  let rightEnd = -1n;
  for (let at = 0, beside = 0; at < left.length || beside < right.length;) {
    const [one, other] = [left[at], right[beside]];
    const isLeft = other === undefined || (one !== undefined && byOffset(one, other) <= 0);
    const next = (isLeft ? one : other)!;
    const end = next.offset + next.length;
    if ((isLeft ? rightEnd : leftEnd) > next.offset) return true;
    if (isLeft) {
      at += 1;
      if (end > leftEnd) leftEnd = end;
    } else {
      beside += 1;
      if (end > rightEnd) rightEnd = end;
    }
  }
  return false;
}

function overlapsItself(sorted: readonly ByteSpan[]): boolean {
  let last = -1n;
  for (const { offset, length } of sorted) {
    if (last > offset) return true;
    if (offset + length > last) last = offset + length;
  }
  return false;
}

/** Whether an exclusive request comes after a shared request that it overlaps, and is therefore
 *  denied. The reverse order is granted: a shared lock may overlap an exclusive lock of the same
 *  handle. The exclusive requests do not overlap each other, so all that overlap one span are
 *  adjacent in the sorted list. */
function hasLaterExclusive(shared: readonly Indexed[], exclusive: readonly Indexed[]): boolean {
  if (shared.length === 0 || exclusive.length === 0) return false;
  const latest = new RangeMaximum(exclusive.map(({ index }) => index));
  return shared.some(({ offset, length, index }) => {
    const from = firstWhere(exclusive, (each) => each.offset + each.length > offset);
    const to = firstWhere(exclusive, (each) => each.offset >= offset + length);
    return from < to && latest.between(from, to) > index;
  });
}

/** Binary search: the first element for which the test is true. */
function firstWhere<T>(list: readonly T[], test: (element: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(list[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Range maximum query: row `n` holds the maximum of 2^n adjacent values. */
class RangeMaximum {
  readonly #rows: (readonly number[])[];

  constructor(numbers: readonly number[]) {
    this.#rows = [numbers];
    for (let width = 1; width * 2 <= numbers.length; width *= 2) {
      const row = this.#rows.at(-1)!;
      const next = row.slice(0, numbers.length - width * 2 + 1);
      this.#rows.push(next.map((number, at) => Math.max(number, row[at + width]!)));
    }
  }

  /** The maximum of the values from index `from` up to, not including, `to`. */
  between(from: number, to: number): number {
    const level = 31 - Math.clz32(to - from);
    const row = this.#rows[level]!;
    return Math.max(row[from]!, row[to - (1 << level)]!);
  }
}
