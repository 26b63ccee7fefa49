import type { Ticks } from "../../src/base/ticks.ts";
import { ticksPerMillisecond } from "../../src/base/ticks.ts";
import type { Clock, Log, Random } from "../../src/base/world.ts";

/** 2024-01-01 in ticks: the start of simulated time. */
const simulationStartTicks = 638_396_640_000_000_000n;
const timersFiredMax = 100_000;

export interface SimClock extends Clock {
  /** Advances wall and monotonic time; runs the timers that become due, in order. */
  advance(milliseconds: number): void;
  /** Advances both at once, as while a machine is suspended: a timer that is due runs once, late.
   *  For long times, in which periodic timers would run very often. */
  skip(milliseconds: number): void;
  /** Changes wall time only, in either direction, as an administrator or a time server may. */
  jumpWall(milliseconds: number): void;
  /** Simulates a new boot: monotonic time restarts at 0. */
  reboot(): void;
}

export interface SimWorld {
  readonly clock: SimClock;
  readonly random: Random;
  readonly log: SimLog;
}

export interface SimLog extends Log {
  readonly lines: readonly { level: string; fields: object; message: string }[];
}

/** Simulated clock, random numbers and log: only the test advances time, and equal seeds give equal
 *  ids. */
export function simWorld(seed: number): SimWorld {
  return { clock: simClock(seed), random: simRandom(seed), log: simLog() };
}

function simClock(seed: number): SimClock {
  let wall = simulationStartTicks;
  let monotonic = 0n;
  let boot = 0;
  const timers = new Set<{ at: Ticks; run: () => void }>();
  const move = (ticks: Ticks): void => {
    wall += ticks;
    monotonic += ticks;
  };
  return {
    get bootId() {
      return `boot-${seed}-${boot}`;
    },
    wall: () => wall,
    monotonic: () => monotonic,
    after(milliseconds, run) {
      const timer = { at: monotonic + toTicks(milliseconds), run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    nextIteration: (run) => void setImmediate(run),
    advance(milliseconds) {
      const end = monotonic + toTicks(milliseconds);
      for (let fired = 0; fired < timersFiredMax; fired++) {
        const due = [...timers].filter(({ at }) => at <= end);
        const next = due.toSorted((a, b) => Number(a.at - b.at))[0];
        if (next === undefined) return move(end - monotonic);
        timers.delete(next);
        move(next.at > monotonic ? next.at - monotonic : 0n);
        next.run();
      }
      throw new Error(`more than ${timersFiredMax} timers fell due within one step`);
    },
    skip(milliseconds) {
      move(toTicks(milliseconds));
      for (const timer of [...timers].toSorted((a, b) => Number(a.at - b.at))) {
        if (timer.at <= monotonic && timers.delete(timer)) timer.run();
      }
    },
    jumpWall(milliseconds) {
      wall += toTicks(milliseconds);
    },
    reboot() {
      boot += 1;
      monotonic = 0n;
      timers.clear();
    },
  };
}

function toTicks(milliseconds: number): Ticks {
  return BigInt(Math.round(milliseconds * Number(ticksPerMillisecond)));
}

/** Mulberry32: small, and good enough for ids that must differ. */
function simRandom(seed: number): Random {
  let state = seed >>> 0;
  const nextByte = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) & 0xff;
  };
  return { bytes: (count) => Uint8Array.from({ length: count }, nextByte) };
}

function simLog(): SimLog {
  const lines: { level: string; fields: object; message: string }[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message });
  return {
    lines,
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}
