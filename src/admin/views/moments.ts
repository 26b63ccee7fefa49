import { formatIso } from "../../base/dates.ts";
import { ticksMax, ticksPerMillisecond, type Ticks } from "../../base/ticks.ts";

/** Seconds with three digits after the point; never below zero. */
export function secondsUntil(moment: Ticks, now: Ticks): number {
  return moment <= now ? 0 : Number((moment - now) / ticksPerMillisecond) / 1000;
}

/** `null` is what has no end. */
export function momentOrNever(moment: Ticks): string | null {
  return moment >= ticksMax ? null : formatIso(moment);
}
