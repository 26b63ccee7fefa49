import { isListDenied } from "./range-lists.ts";
import { rangesMax, type LockState, type RangeLock } from "./lock-state.ts";

export interface ByteSpan {
  readonly offset: bigint;
  readonly length: bigint;
}

export interface LockRequest extends ByteSpan {
  readonly exclusive: boolean;
}

export type RangeRefusal = "lock-not-granted" | "range-not-locked" | "too-many-locks";

export type RangeOutcome =
  | { readonly ok: true; readonly state: LockState }
  | { readonly ok: false; readonly refusal: RangeRefusal; readonly state: LockState };

/** Whether two spans overlap. An empty one lies between two bytes: it overlaps a span that
 *  strictly contains its position, and never another empty one ([MS-FSA] 2.1.4.10). */
export function overlaps(left: ByteSpan, right: ByteSpan): boolean {
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length;
}

/** An exclusive lock conflicts with every overlapping lock, also of its own open. A shared lock
 *  may overlap shared locks, and an exclusive one of its own open. */
function denies(held: RangeLock, wanted: LockRequest, open: bigint): boolean {
  if (!overlaps(held, wanted)) return false;
  return wanted.exclusive || (held.exclusive && held.open !== open);
}

/** All of the locks or none. */
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

/** Unlocks exactly the ranges that were locked, one lock each. Ranges before a missing one stay
 *  unlocked. */
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

/** The locks of one open by offset and length, so that a long list is unlocked in one pass. */
class OwnRanges {
  readonly #ranges = new Map<string, RangeLock[]>();

  constructor(ranges: readonly RangeLock[], open: bigint) {
    // In reverse order, because `take` pops from the end: the first lock is unlocked first.
    for (const range of ranges.toReversed()) {
      if (range.open !== open) continue;
      const name = nameOf(range);
      const same = this.#ranges.get(name);
      if (same === undefined) this.#ranges.set(name, [range]);
      else same.push(range);
    }
  }

  take(span: ByteSpan): RangeLock | undefined {
    return this.#ranges.get(nameOf(span))?.pop();
  }
}

function nameOf({ offset, length }: ByteSpan): string {
  return `${offset}:${length}`;
}

/** The locks that prevent reading or writing a span: exclusive locks of other opens, and for writes
 *  all shared locks. REST has no open, so every lock counts as another's. */
export function lockingRanges(
  { ranges }: LockState,
  span: ByteSpan,
  access: ByteAccess,
): readonly RangeLock[] {
  return ranges.filter((held) => prevents(held, span, access));
}

interface ByteAccess {
  readonly open?: bigint;
  readonly writes: boolean;
}

function prevents(held: RangeLock, span: ByteSpan, { open, writes }: ByteAccess): boolean {
  if (span.length === 0n || !overlaps(held, span)) return false;
  return held.exclusive ? held.open !== open : writes;
}
