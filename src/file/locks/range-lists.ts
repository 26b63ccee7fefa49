import type { LockRequest, ByteSpan } from "./byte-ranges.ts";

/**
 * Locks that a list of requests is checked against. One request asks each lock; a list would ask
 * each lock for each request, so it is sorted instead: 10,000 requests beside 10,000 locks take
 * some milliseconds rather than a second.
 */
export interface HeldRanges {
  readonly held: readonly ByteSpan[];
  /** The exclusive ones of other opens. */
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
  /** Its position in the request. */
  readonly index: number;
}

/** Empty stretches come before others at the same offset, which they do not touch. */
function byPlace(left: ByteSpan, right: ByteSpan): number {
  if (left.offset !== right.offset) return left.offset < right.offset ? -1 : 1;
  if (left.length === right.length) return 0;
  return left.length < right.length ? -1 : 1;
}

/** Both sorted by place; a list may be compared with itself. */
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

/**
 * Whether an exclusive request comes after a shared one that it touches. The reverse is granted:
 * shared locks stack upon exclusive ones of the same open. The exclusive requests touch none of
 * each other, so those that a stretch touches lie side by side.
 */
function isAnyBehind(shared: readonly Indexed[], exclusive: readonly Indexed[]): boolean {
  if (shared.length === 0 || exclusive.length === 0) return false;
  const latest = new RangeMaximum(exclusive.map(({ index }) => index));
  return shared.some(({ offset, length, index }) => {
    const from = firstWhere(exclusive, (each) => each.offset + each.length > offset);
    const to = firstWhere(exclusive, (each) => each.offset >= offset + length);
    return from < to && latest.between(from, to) > index;
  });
}

/** The first element of which the test holds, as it does of all that follow. */
function firstWhere<T>(list: readonly T[], test: (element: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(list[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The greatest number between two places: row `n` holds the greatest of 2^n neighbours. */
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
