import { ticksPerMillisecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** A clock that can be moved forward. */
export interface TravellingClock extends Clock {
  /** Moves time forward, as if the machine had been suspended: timers that become due run once, and
   *  those that they set count from the new time. */
  advance(milliseconds: number): void;
  /** By how much it was moved. */
  ahead(): Ticks;
}

interface Timer {
  readonly dueAt: Ticks;
  readonly run: () => void;
  /** Ends the timer of the machine. */
  stop: () => void;
}

/** Adds time travel to a clock. Time only moves forward: store time never goes back. */
export function travellingClock(clock: Clock): TravellingClock {
  let ahead: Ticks = 0n;
  const timers = new Set<Timer>();
  const monotonic = (): Ticks => clock.monotonic() + ahead;
  const fire = (timer: Timer): void => {
    // An earlier timer of the same advance may have cancelled this one.
    if (!timers.delete(timer)) return;
    timer.stop();
    timer.run();
  };
  const arm = (timer: Timer, milliseconds: number): void => {
    timer.stop = clock.after(milliseconds, () => fire(timer));
  };
  return {
    bootId: clock.bootId,
    wall: () => clock.wall() + ahead,
    machineWall: () => clock.wall(),
    monotonic,
    ahead: () => ahead,
    after(milliseconds, run) {
      const timer: Timer = { dueAt: monotonic() + toTicks(milliseconds), run, stop: () => {} };
      timers.add(timer);
      arm(timer, milliseconds);
      return () => {
        timers.delete(timer);
        timer.stop();
      };
    },
    advance(milliseconds) {
      ahead += toTicks(milliseconds);
      const now = monotonic();
      const inOrder = [...timers].toSorted((left, right) => Number(left.dueAt - right.dueAt));
      for (const timer of inOrder) {
        if (timer.dueAt <= now) fire(timer);
        else if (timers.has(timer)) {
          timer.stop();
          arm(timer, Math.ceil(Number(timer.dueAt - now) / Number(ticksPerMillisecond)));
        }
      }
    },
  };
}

function toTicks(milliseconds: number): Ticks {
  return BigInt(Math.round(milliseconds * Number(ticksPerMillisecond)));
}
