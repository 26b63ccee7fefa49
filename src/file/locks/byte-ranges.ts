import { rangesMax, type LockState, type RangeLock } from "./lock-state.ts";

export interface Stretch {
  readonly offset: bigint;
  readonly length: bigint;
}

export interface LockRequest extends Stretch {
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
export function overlaps(left: Stretch, right: Stretch): boolean {
  if (left.length === 0n && right.length === 0n) return false;
  if (left.length === 0n) return inside(left.offset, right);
  if (right.length === 0n) return inside(right.offset, left);
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length;
}

function inside(point: bigint, { offset, length }: Stretch): boolean {
  return offset < point && point < offset + length;
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
  let ranges = state.ranges;
  for (const request of requests) {
    if (ranges.some((held) => denies(held, request, open))) {
      return { ok: false, refusal: "lock-not-granted", state };
    }
    if (ranges.length >= rangesMax) return { ok: false, refusal: "too-many-locks", state };
    const { offset, length, exclusive } = request;
    ranges = [...ranges, { open, offset, length, exclusive }];
  }
  return { ok: true, state: { ...state, ranges } };
}

/** Exactly the ranges that were locked, one lock each; those before a missing one stay unlocked. */
export function unlockRanges(
  state: LockState,
  open: bigint,
  stretches: readonly Stretch[],
): RangeOutcome {
  const ranges = [...state.ranges];
  for (const { offset, length } of stretches) {
    const index = ranges.findIndex(
      (held) => held.open === open && held.offset === offset && held.length === length,
    );
    if (index < 0) {
      return { ok: false, refusal: "range-not-locked", state: { ...state, ranges } };
    }
    ranges.splice(index, 1);
  }
  return { ok: true, state: { ...state, ranges } };
}

/**
 * Whether bytes may be read or written past the locks: reading stops at others' exclusive locks,
 * writing also at shared ones, whoever holds them. REST has no open, so every lock is another's.
 */
export function isRangeLocked(state: LockState, stretch: Stretch, toucher: Toucher): boolean {
  return state.ranges.some((held) => isInTheWay(held, stretch, toucher));
}

/** The locks that stand in the way. */
export function lockingRanges(
  { ranges }: LockState,
  stretch: Stretch,
  toucher: Toucher,
): readonly RangeLock[] {
  return ranges.filter((held) => isInTheWay(held, stretch, toucher));
}

interface Toucher {
  readonly open?: bigint;
  readonly writes: boolean;
}

function isInTheWay(held: RangeLock, stretch: Stretch, { open, writes }: Toucher): boolean {
  if (stretch.length === 0n || !overlaps(held, stretch)) return false;
  return held.exclusive ? held.open !== open : writes;
}
