import type { LockRequest, ByteSpan } from "./byte-ranges.ts";

/** The locks that a list of requests is checked against. The list is sorted: comparing each of
 *  10,000 requests with each of 10,000 locks takes a second, this a few milliseconds. */
export interface HeldRanges {
  readonly held: readonly ByteSpan[];
  /** Exclusive locks of other opens. */
  readonly foreign: readonly ByteSpan[];
}

/** Whether one of the requests, granted one after the other, is denied. */
export function isListDenied(requests: readonly LockRequest[], against: HeldRanges): boolean {
  const exclusive: Indexed[] = [];
  const shared: Indexed[] = [];
  for (const [index, request] of requests.entries()) {
    const { offset, length } = request;
    (request.exclusive ? exclusive : shared).push({ offset, length, index });
  }
  const sorted = exclusive.toSorted(byPlace);
  if (anyOverlap(sorted, sorted)) return true;
  if (anyOverlap(sorted, against.held.toSorted(byPlace))) return true;
  if (anyOverlap(shared.toSorted(byPlace), against.foreign.toSorted(byPlace))) return true;
  return isAnyBehind(shared, sorted);
}

interface Indexed extends ByteSpan {
  /** Its index in the request. */
  readonly index: number;
}

/** Empty spans sort before others at the same offset, which they do not overlap. */
function byPlace(left: ByteSpan, right: ByteSpan): number {
  if (left.offset !== right.offset) return left.offset < right.offset ? -1 : 1;
  if (left.length === right.length) return 0;
  return left.length < right.length ? -1 : 1;
}

/** Both sorted by offset; a list may be compared with itself. */
function anyOverlap(left: readonly ByteSpan[], right: readonly ByteSpan[]): boolean {
  if (left === right) return touchesItself(left);
  let leftEnd = -1n;
  let rightEnd = -1n;
  for (let at = 0, beside = 0; at < left.length || beside < right.length;) {
    const [one, other] = [left[at], right[beside]];
    const isLeft = other === undefined || (one !== undefined && byPlace(one, other) <= 0);
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

function touchesItself(sorted: readonly ByteSpan[]): boolean {
  let last = -1n;
  for (const { offset, length } of sorted) {
    if (last > offset) return true;
    if (offset + length > last) last = offset + length;
  }
  return false;
}

/** Whether an exclusive request comes after a shared one that it overlaps. The reverse is
 *  granted: a shared lock may overlap an exclusive one of the same open. The exclusive requests
 *  do not overlap each other, so those that a span overlaps are adjacent. */
function isAnyBehind(shared: readonly Indexed[], exclusive: readonly Indexed[]): boolean {
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

  /** From `from` up to, not including, `to`. */
  between(from: number, to: number): number {
    const level = 31 - Math.clz32(to - from);
    const row = this.#rows[level]!;
    return Math.max(row[from]!, row[to - (1 << level)]!);
  }
}
