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

/**
 * Whether two stretches touch. An empty one lies between two bytes: it touches what strictly
 * surrounds it, and never another empty one ([MS-FSA] 2.1.4.10).
 */
export function overlaps(left: ByteSpan, right: ByteSpan): boolean {
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length;
}

/** Nobody gets an exclusive lock beside another, not even its own open; a shared one stacks upon
 *  shared ones, and upon an exclusive one of the same open. */
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

/** Exactly the ranges that were locked, one lock each; those before a missing one stay unlocked. */
export function unlockRanges(
  state: LockState,
  open: bigint,
  stretches: readonly ByteSpan[],
): RangeOutcome {
  const own = stretches.length > 1 ? new OwnRanges(state.ranges, open) : undefined;
  const unlocked = new Set<RangeLock>();
  let isMissing = false;
  for (const stretch of stretches) {
    const range = own === undefined ? findOwn(state.ranges, open, stretch) : own.take(stretch);
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
    // Backwards: the first lock of a name is then taken first.
    for (const range of ranges.toReversed()) {
      if (range.open !== open) continue;
      const name = nameOf(range);
      const same = this.#ranges.get(name);
      if (same === undefined) this.#ranges.set(name, [range]);
      else same.push(range);
    }
  }

  take(stretch: ByteSpan): RangeLock | undefined {
    return this.#ranges.get(nameOf(stretch))?.pop();
  }
}

function nameOf({ offset, length }: ByteSpan): string {
  return `${offset}:${length}`;
}

/**
 * Whether bytes may be read or written past the locks: reading stops at others' exclusive locks,
 * writing also at shared ones, whoever holds them. REST has no open, so every lock is another's.
 */
export function isRangeLocked(state: LockState, stretch: ByteSpan, toucher: Toucher): boolean {
  return state.ranges.some((held) => isInTheWay(held, stretch, toucher));
}

/** The locks that stand in the way. */
export function lockingRanges(
  { ranges }: LockState,
  stretch: ByteSpan,
  toucher: Toucher,
): readonly RangeLock[] {
  return ranges.filter((held) => isInTheWay(held, stretch, toucher));
}

interface Toucher {
  readonly open?: bigint;
  readonly writes: boolean;
}

function isInTheWay(held: RangeLock, stretch: ByteSpan, { open, writes }: Toucher): boolean {
  if (stretch.length === 0n || !overlaps(held, stretch)) return false;
  return held.exclusive ? held.open !== open : writes;
}
