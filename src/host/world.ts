import { execFileSync } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { ticksPerMillisecond, ticksPerSecond, unixEpochTicks, type Ticks } from "../base/ticks.ts";
import type { Clock, Log, Random, World } from "../base/world.ts";

/** The real clock, random numbers and environment of this machine. Only this file may read them
 *  (`tests/tidy.test.ts`), so that tests and simulations can replace them. */

/** The clock of the system. */
export function realClock(): Clock {
  const monotonic = countSuspendedTime(() => process.hrtime.bigint() / 100n, uptime);
  let lastMilliseconds = Number.NaN;
  let lastWall: Ticks = 0n;
  return {
    bootId: readBootId(),
    // A request reads the wall clock several times, and many requests are served per millisecond:
    // the conversion to ticks allocates three big integers.
    wall: () => {
      const milliseconds = Date.now();
      if (milliseconds !== lastMilliseconds) {
        lastMilliseconds = milliseconds;
        lastWall = BigInt(milliseconds) * ticksPerMillisecond + unixEpochTicks;
      }
      return lastWall;
    },
    monotonic,
    after(milliseconds, run) {
      // The timer is unreferenced, so that it alone does not keep the process running.
      const timer = setTimeout(run, milliseconds).unref();
      return () => clearTimeout(timer);
    },
    nextIteration: (run) => void setImmediate(run),
  };
}

const suspendCheckTicks = ticksPerSecond;
const suspendStepTicks = ticksPerSecond / 10n;

/** `process.hrtime` stops while the machine is suspended, the uptime does not. Their difference is
 *  the time spent suspended. It is read about once per second and rounded to 0.1 s, because the
 *  uptime has a resolution of 10 ms and all processes of a boot must agree. */
export function countSuspendedTime(awake: () => Ticks, uptimeSeconds: () => number): () => Ticks {
  let suspended = 0n;
  let checkAt: Ticks | undefined;
  return () => {
    const now = awake();
    if (checkAt === undefined || now >= checkAt) {
      checkAt = now + suspendCheckTicks;
      const difference = BigInt(Math.round(uptimeSeconds() * 1000)) * ticksPerMillisecond - now;
      const rounded = ((difference + suspendStepTicks / 2n) / suspendStepTicks) * suspendStepTicks;
      if (rounded > suspended) suspended = rounded;
    }
    return now + suspended;
  };
}

function readBootId(): string {
  try {
    if (process.platform === "darwin") {
      return execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8" }).trim();
    }
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // The system has no boot id: use the boot time in minutes, which a clock change may alter.
    return `${hostname()}-${Math.round((Date.now() / 1000 - uptime()) / 60)}`;
  }
}

/** The time and the random numbers of this system. */
export function realEnvironment(log: Log): World {
  return { clock: realClock(), random: realRandom(), log };
}

/** Converts a time for libraries that take the `Date` of the platform. */
export function dateOf(moment: Ticks): Date {
  return new Date(Number((moment - unixEpochTicks) / ticksPerMillisecond));
}

/** The time that a text of the platform names, such as `Nov 22 13:36:11 2026 GMT` for the end of a
 *  certificate; undefined if it is no time. */
export function momentOf(text: string): Ticks | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds)
    ? undefined
    : BigInt(milliseconds) * ticksPerMillisecond + unixEpochTicks;
}

const randomPoolBytes = 4096;

/** Reads 4 KiB at a time: several times cheaper than one system call per id. */
export function realRandom(): Random {
  const pool = new Uint8Array(randomPoolBytes);
  let used = randomPoolBytes;
  return {
    bytes(count) {
      if (count > randomPoolBytes) return randomFillSync(new Uint8Array(count));
      if (used + count > randomPoolBytes) {
        randomFillSync(pool);
        used = 0;
      }
      used += count;
      return pool.slice(used - count, used);
    },
  };
}

export function environmentVariable(name: string): string | undefined {
  return process.env[name];
}
