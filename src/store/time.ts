import type { Ticks } from "../core/ticks.ts";
import type { Clock } from "../core/world.ts";

/** A moment of store time and the reading of the monotonic clock that belongs to it. */
export interface Anchor {
  readonly bootId: string;
  readonly monotonic: Ticks;
  readonly ticks: Ticks;
}

/** Where store time starts from: at the wall clock, but never before what was already used. */
export function newAnchor(clock: Clock, lastCommitted: Ticks): Anchor {
  const wall = clock.wall();
  const ticks = wall > lastCommitted ? wall : lastCommitted + 1n;
  return { bootId: clock.bootId, monotonic: clock.monotonic(), ticks };
}

/**
 * Store time: follows the monotonic clock from an anchor that all processes share, so a wall clock
 * that jumps changes nothing. Every call gives a later moment, and one after `floor`, which is the
 * latest that any process has committed.
 */
export function storeTime(clock: Clock, anchor: Anchor): (floor: Ticks) => Ticks {
  let last = anchor.ticks - 1n;
  return (floor) => {
    const passed = anchor.ticks + (clock.monotonic() - anchor.monotonic);
    const atLeast = (last > floor ? last : floor) + 1n;
    last = passed > atLeast ? passed : atLeast;
    return last;
  };
}
