import { firstWhere } from "../../base/search.ts";
import { rangesMax, type LockState, type RangeLock } from "./lock-state.ts";

/** Byte-range locks of SMB clients ([MS-FSA] 2.1.5.8, 2.1.5.9): pure functions that lock and unlock
 *  ranges, and find those that prevent a read or write. */

/** A range of bytes; 64-bit, as SMB sends it. */
export interface ByteSpan {
  readonly offset: bigint;
  readonly length: bigint;
}

/** A range to lock. An exclusive lock excludes reads and writes of other handles; a shared one
 *  excludes writes. */
export interface LockRequest extends ByteSpan {
  readonly exclusive: boolean;
}

type RangeRefusal = "lock-not-granted" | "range-not-locked" | "too-many-locks";

/** The outcome of locking or unlocking ranges. A failed unlock has changed the state, too. */
type RangeOutcome =
  | { readonly ok: true; readonly state: LockState }
  | { readonly ok: false; readonly refusal: RangeRefusal; readonly state: LockState };

/** Whether two spans overlap. An empty span lies between two bytes: it overlaps a span that
 *  strictly contains its position, and never another empty span ([MS-FSA] 2.1.4.10). */
export function overlaps(left: ByteSpan, right: ByteSpan): boolean {
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length;
}

/** Whether a lock prevents a requested one of the handle `open`. An exclusive lock is prevented by
 *  every overlapping lock, even of the same handle. A shared lock is prevented only by an
 *  overlapping exclusive lock of another handle. */
function denies(held: RangeLock, wanted: LockRequest, open: bigint): boolean {
  if (!overlaps(held, wanted)) return false;
  return wanted.exclusive || (held.exclusive && held.open !== open);
}

/** Adds byte-range locks of the handle `open` to the lock state: all of the requested ones or
 *  none. */
export function lockRanges(
  state: LockState,
  open: bigint,
  requests: readonly LockRequest[],
): RangeOutcome {
  const { ranges } = state;
  if (isDenied(ranges, requests, open)) return { ok: false, refusal: "lock-not-granted", state };
  if (ranges.length + requests.length > rangesMax) {
    return { ok: false, refusal: "too-many-locks", state };
  }
  const granted = requests.map(({ offset, length, exclusive }) => {
    return { open, offset, length, exclusive };
  });
  return { ok: true, state: { ...state, ranges: [...ranges, ...granted] } };
}

function isDenied(
  ranges: readonly RangeLock[],
  requests: readonly LockRequest[],
  open: bigint,
): boolean {
  const [first] = requests;
  if (first !== undefined && requests.length === 1) {
    return ranges.some((held) => denies(held, first, open));
  }
  const foreign = ranges.filter((held) => held.exclusive && held.open !== open);
  return isListDenied(requests, { held: ranges, foreign });
}

/** Removes one lock for each span, which must have exactly its offset and length. If there is none,
 *  the spans before it stay unlocked. */
export function unlockRanges(
  state: LockState,
  open: bigint,
  spans: readonly ByteSpan[],
): RangeOutcome {
  const own = spans.length > 1 ? new OwnRanges(state.ranges, open) : undefined;
  const unlocked = new Set<RangeLock>();
  let isMissing = false;
  for (const span of spans) {
    const range = own === undefined ? findOwn(state.ranges, open, span) : own.take(span);
    isMissing = range === undefined;
    if (range === undefined) break;
    unlocked.add(range);
  }
  const left = { ...state, ranges: state.ranges.filter((range) => !unlocked.has(range)) };
  if (isMissing) return { ok: false, refusal: "range-not-locked", state: left };
  return { ok: true, state: left };
}

function findOwn(
  ranges: readonly RangeLock[],
  open: bigint,
  { offset, length }: ByteSpan,
): RangeLock | undefined {
  return ranges.find(
    (held) => held.open === open && held.offset === offset && held.length === length,
  );
}

/** The locks of one handle by offset and length, so that a request with many ranges is unlocked in
 *  one pass over the locks of the file. */
class OwnRanges {
  readonly #ranges = new Map<string, RangeLock[]>();

  constructor(ranges: readonly RangeLock[], open: bigint) {
    // In reverse order, because `take` pops from the end: of equal locks the oldest is removed
    // first.
    for (const range of ranges.toReversed()) {
      if (range.open !== open) continue;
      const name = nameOf(range);
      const same = this.#ranges.get(name);
      if (same === undefined) this.#ranges.set(name, [range]);
      else same.push(range);
    }
  }

  /** Returns a lock of this span that was not returned before; undefined if there is none. */
  take(span: ByteSpan): RangeLock | undefined {
    return this.#ranges.get(nameOf(span))?.pop();
  }
}

function nameOf({ offset, length }: ByteSpan): string {
  return `${offset}:${length}`;
}

/** The locks that prevent reading or writing a span: exclusive locks of other handles and, for
 *  writes, all shared locks. A REST operation has no handle, so every lock is one of another
 *  handle. */
export function lockingRanges(
  { ranges }: LockState,
  span: ByteSpan,
  access: ByteAccess,
): readonly RangeLock[] {
  return ranges.filter((held) => prevents(held, span, access));
}

/** A read or write of bytes. `open` is the accessing handle; absent for REST. */
interface ByteAccess {
  readonly open?: bigint;
  readonly writes: boolean;
}

function prevents(held: RangeLock, span: ByteSpan, { open, writes }: ByteAccess): boolean {
  if (span.length === 0n || !overlaps(held, span)) return false;
  return held.exclusive ? held.open !== open : writes;
}

/** The locks that a list of requests is compared with. Both are sorted first: comparing each of
 *  10,000 requests with each of 10,000 locks takes a second, the sorted lists take a few
 *  milliseconds. */
interface HeldRanges {
  /** All locks of the file. */
  readonly held: readonly ByteSpan[];
  /** Exclusive locks of other handles. */
  readonly foreign: readonly ByteSpan[];
}

/** Whether any request is denied if all are granted in order. Gives the same result as checking
 *  each request against the locks before it. */
function isListDenied(requests: readonly LockRequest[], against: HeldRanges): boolean {
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
  /** Index in the list of requests, which are granted in this order. */
  readonly index: number;
}

/** Sort order of spans: by offset, then by length. An empty span sorts before other spans at its
 *  offset, which it does not overlap. */
function byOffset(left: ByteSpan, right: ByteSpan): number {
  if (left.offset !== right.offset) return left.offset < right.offset ? -1 : 1;
  if (left.length === right.length) return 0;
  return left.length < right.length ? -1 : 1;
}

/** Whether a span of one list overlaps a span of the other, in one pass over both sorted lists. A
 *  list that is compared with itself must not have two overlapping spans. */
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

/** Finds the maximum of any part of a list in constant time, for `hasLaterExclusive`. Row `n` holds
 *  the maxima of 2^n adjacent values; two overlapping runs of 2^n values cover any part. */
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
