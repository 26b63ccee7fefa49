import { isListDenied } from "./range-lists.ts";
import { rangesMax, type LockState, type RangeLock } from "./lock-state.ts";

/** A range of bytes; 64-bit, as SMB sends it. */
export interface ByteSpan {
  readonly offset: bigint;
  readonly length: bigint;
}

export interface LockRequest extends ByteSpan {
  readonly exclusive: boolean;
}

export type RangeRefusal = "lock-not-granted" | "range-not-locked" | "too-many-locks";

/** The lock state after a request, even if it failed. */
export type RangeOutcome =
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

/** Grants all of the requested locks or none. */
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

/** The locks of one handle by offset and length, so that a long list is unlocked in one pass. */
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

/** Who accesses the bytes; `open` is absent for REST. */
interface ByteAccess {
  readonly open?: bigint;
  readonly writes: boolean;
}

function prevents(held: RangeLock, span: ByteSpan, { open, writes }: ByteAccess): boolean {
  if (span.length === 0n || !overlaps(held, span)) return false;
  return held.exclusive ? held.open !== open : writes;
}
