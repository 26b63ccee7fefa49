import { formatIso } from "../../base/dates.ts";
import { ticksMax, ticksPerMillisecond, type Ticks } from "../../base/ticks.ts";

/** Seconds with three decimals, at least 0. */
export function secondsUntil(moment: Ticks, now: Ticks): number {
  return moment <= now ? 0 : Number((moment - now) / ticksPerMillisecond) / 1000;
}

/** An ISO time; null if it never comes. */
export function momentOrNever(moment: Ticks): string | null {
  return moment >= ticksMax ? null : formatIso(moment);
}
