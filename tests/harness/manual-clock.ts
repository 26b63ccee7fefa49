import { ticksPerMillisecond, unixEpochTicks } from "../../src/base/ticks.ts";
import type { Ticks } from "../../src/base/ticks.ts";
import type { Clock } from "../../src/base/world.ts";

interface Timer {
  readonly due: Ticks;
  readonly run: () => void;
}

/** A clock that only tests advance. */
export interface ManualClock extends Clock {
  bootId: string;
  /** Advances both clocks and runs the timers that are due, in order. */
  advance(milliseconds: number): void;
  /** Moves only the wall clock, as an administrator or a time server does. */
  jumpWall(milliseconds: number): void;
}

const timerRunsMax = 100_000;

export function manualClock(bootId = "boot-1"): ManualClock {
  let wall: Ticks = unixEpochTicks + 1_700_000_000_000n * ticksPerMillisecond;
  let monotonic: Ticks = 5_000_000n;
  const timers = new Set<Timer>();
  const nextDue = (until: Ticks): Timer | undefined => {
    const due = [...timers].filter((timer) => timer.due <= until);
    return due.reduce<Timer | undefined>(
      (first, timer) => (first !== undefined && first.due <= timer.due ? first : timer),
      undefined,
    );
  };
  return {
    bootId,
    wall: () => wall,
    monotonic: () => monotonic,
    after(milliseconds, run) {
      const timer = { due: monotonic + ticksOf(milliseconds), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    nextIteration: (run) => void setImmediate(run),
    advance(milliseconds) {
      const until = monotonic + ticksOf(milliseconds);
      wall += ticksOf(milliseconds);
      for (let runs = 0; runs < timerRunsMax; runs += 1) {
        const timer = nextDue(until);
        if (timer === undefined) break;
        timers.delete(timer);
        if (timer.due > monotonic) monotonic = timer.due;
        timer.run();
      }
      monotonic = until;
    },
    jumpWall(milliseconds) {
      wall += ticksOf(milliseconds);
    },
  };
}

function ticksOf(milliseconds: number): Ticks {
  return BigInt(Math.round(milliseconds * Number(ticksPerMillisecond)));
}
