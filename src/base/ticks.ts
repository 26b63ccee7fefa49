/**
 * A moment in 100 ns steps since 0001-01-01 UTC, as the service itself counts: the hexadecimal form
 * is the ETag, the seven-digit fraction the snapshot name.
 */
export type Ticks = bigint;

export const ticksPerSecond = 10_000_000n;
export const ticksPerMillisecond = 10_000n;
export const ticksPerDay = 86_400n * ticksPerSecond;
/** 1970-01-01 in ticks. */
export const unixEpochTicks = 621_355_968_000_000_000n;
/** The last tick of the year 9999, beyond which no date can be written. */
export const ticksMax = 3_155_378_975_999_999_999n;

/** Dates on the wire have whole seconds, so comparisons with them must drop the fraction. */
export function truncateToSecond(ticks: Ticks): Ticks {
  return ticks - (ticks % ticksPerSecond);
}

export function ticksFromUnixMilliseconds(milliseconds: number): Ticks {
  return unixEpochTicks + BigInt(Math.trunc(milliseconds)) * ticksPerMillisecond;
}

export function ticksToUnixMilliseconds(ticks: Ticks): number {
  return Number((ticks - unixEpochTicks) / ticksPerMillisecond);
}

export function ticksFromSeconds(seconds: number): Ticks {
  return BigInt(seconds) * ticksPerSecond;
}

/** Whole seconds, rounded down as the service does for `x-ms-lease-time`. */
export function wholeSeconds(duration: Ticks): number {
  return Number(duration / ticksPerSecond);
}
