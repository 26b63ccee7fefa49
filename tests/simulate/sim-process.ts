import type { Server } from "node:net";
import type { Ticks } from "../../src/base/ticks.ts";
import type { Clock, Log, Random as ByteSource } from "../../src/base/world.ts";
import type { Scheduler } from "./scheduler.ts";

/** 2024-01-01 in ticks: the start of simulated time. */
const startTicks = 638_396_640_000_000_000n;
const ticksPerMicrosecond = 10n;
/** How long an iteration of the event loop takes at most. */
const iterationMicrosecondsMax = 40;

/** The clock that the processes of a machine share. */
export interface MachineTime {
  readonly bootId: string;
  /** When the machine was booted, in microseconds of the simulation. */
  readonly bootedAt: number;
  /** By how much the wall clock is wrong. */
  readonly wallOffsetMicroseconds: number;
}

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
  readonly process: SimProcess;
}

interface SimProcessOptions {
  readonly scheduler: Scheduler;
  readonly pid: number;
  readonly time: () => MachineTime;
  readonly random: ByteSource;
  readonly write: (line: LogLine) => void;
}

/** A server process of a simulated machine: its part of the world, and whether it runs. */
export class SimProcess {
  readonly pid: number;
  readonly startTime: string;
  readonly clock: Clock;
  readonly random: ByteSource;
  readonly log: Log;
  /** The servers that accept connections, by the title of their listener. */
  readonly servers = new Map<string, Server>();
  isAlive = true;
  pausedUntil = 0;
  readonly #onKill: (() => void)[] = [];

  constructor({ scheduler, pid, time, random, write }: SimProcessOptions) {
    this.pid = pid;
    this.startTime = String(scheduler.now);
    this.random = random;
    this.clock = clockOf(scheduler, this, time);
    const line =
      (level: LogLine["level"]) =>
      (fields: object, message: string): void => {
        if (this.isAlive) write({ level, fields, message, process: this });
      };
    this.log = {
      debug: () => {},
      info: line("info"),
      warn: line("warn"),
      error: line("error"),
    };
  }

  /** Calls `run` when the process is killed. */
  onKill(run: () => void): void {
    this.#onKill.push(run);
  }

  /** Ends the process between two of its steps: no code of it runs any more. */
  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.servers.clear();
    for (const run of this.#onKill.splice(0)) run();
  }
}

function clockOf(scheduler: Scheduler, process: SimProcess, time: () => MachineTime): Clock {
  const { bootId } = time();
  /** When the calls for the next iteration run. */
  let iterationAt = -1;
  return {
    bootId,
    wall: () => ticksAt(scheduler.now + time().wallOffsetMicroseconds),
    monotonic: () => toTicks(scheduler.now - time().bootedAt),
    after: (milliseconds, run) => scheduler.schedule(milliseconds * 1000, run, process),
    nextIteration(run) {
      if (iterationAt <= scheduler.now) {
        iterationAt = scheduler.now + 1 + scheduler.random.below(iterationMicrosecondsMax);
      }
      scheduler.schedule(iterationAt - scheduler.now, run, process);
    },
  };
}

/** The right time, in ticks. */
export function ticksAt(microseconds: number): Ticks {
  return startTicks + toTicks(microseconds);
}

function toTicks(microseconds: number): Ticks {
  return BigInt(Math.round(microseconds)) * ticksPerMicrosecond;
}

export const microsecondsPerSecond = 1_000_000;
