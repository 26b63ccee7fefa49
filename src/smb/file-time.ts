import type { Ticks } from "../base/ticks.ts";

/** FILETIME counts 100 ns from 1601, `Ticks` from the year 1. */
const fileTimeEpochTicks = 504_911_232_000_000_000n;

export function fileTimeOf(ticks: Ticks): bigint {
  return ticks <= fileTimeEpochTicks ? 0n : ticks - fileTimeEpochTicks;
}

export function ticksOfFileTime(fileTime: bigint): Ticks {
  return fileTime + fileTimeEpochTicks;
}
