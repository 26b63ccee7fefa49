import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import { dateOf } from "../host/world.ts";

/** The clock of a server that tests move forward, so that leases, time-outs and SAS expire without
 *  waiting, and its form for programs (`server.clock`). */

/** A clock that can be moved forward. */
export interface TravellingClock extends Clock {
  /** Moves time forward, as if the machine had been suspended: timers that become due run once, and
   *  those that they set count from the new time. */
  advance(milliseconds: number): void;
  /** How far this clock is ahead of the clock of the machine. */
  ahead(): Ticks;
}

interface Timer {
  readonly dueAt: Ticks;
  readonly run: () => void;
  /** Cancels the timer of the machine's clock. */
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
    nextIteration: (run) => clock.nextIteration(run),
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

/** The time of a server, which tests can move forward. */
export interface ServerClock {
  /** Moves the time of the server forward: by milliseconds, or by a text ("61s", "15m", "2h",
   *  "7d"). Leases, visibility timeouts, SAS and times to live expire, and background work that
   *  becomes due runs. No call moves time back, not even `restore` and `reset`. */
  advance(duration: string | number): void;
  now(): Date;
}

/** The clock as programs see it. Only a `TravellingClock` can be moved. */
export function serverClock(clock: Clock | TravellingClock): ServerClock {
  return {
    advance(duration) {
      const milliseconds = parseDuration(duration);
      if (!("advance" in clock)) throw new Error("the clock of this server cannot be moved");
      clock.advance(milliseconds);
    },
    now: () => dateOf(clock.wall()),
  };
}

const millisecondsPerUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const form = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/;

/** Longest duration: a hundred years. Times thus stay below the last one of a key. */
const durationMillisecondsMax = 36_525 * 86_400_000;

/** Milliseconds of a duration: a number of milliseconds, or a text ("250ms", "61s", "15m", "2h",
 *  "7d"). Throws `RangeError` for anything else. */
export function parseDuration(duration: string | number, name = "duration"): number {
  const milliseconds = typeof duration === "number" ? duration : parseText(duration);
  if (milliseconds >= 0 && milliseconds <= durationMillisecondsMax) return milliseconds;
  throw new RangeError(
    `${name}: must be milliseconds or a text such as "61s" (ms, s, m, h, d), 0 to 100 years, ` +
      `not ${JSON.stringify(duration)}`,
  );
}

function parseText(text: string): number {
  const [, amount = "", unit = ""] = form.exec(text) ?? [];
  return Number(amount === "" ? NaN : amount) * (millisecondsPerUnit[unit] ?? NaN);
}
