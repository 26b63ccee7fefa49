/** A time in steps of 100 ns since 0001-01-01 UTC, as Azure Storage counts. An ETag is such a
 *  number in hexadecimal digits, and the name of a snapshot has its seven decimal places.
 *  Differences of times are also in ticks. */
export type Ticks = bigint;

export const ticksPerSecond = 10_000_000n;
export const ticksPerMillisecond = 10_000n;
export const ticksPerDay = 86_400n * ticksPerSecond;
/** 1970-01-01, from which Unix times and those of JavaScript count. */
export const unixEpochTicks = 621_355_968_000_000_000n;
/** 1601-01-01: the start of Windows file times, and the earliest time of the service. */
export const fileTimeStart = 504_911_232_000_000_000n;
/** The last tick of the year 9999: no later date can be written in the formats of Azure. Stored as
 *  the end of what has none. */
export const ticksMax = 3_155_378_975_999_999_999n;

/** Drops the fraction of a second, for comparisons with HTTP dates, which have whole seconds. */
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

/** A duration in whole seconds, rounded down as the service does for `x-ms-lease-time`. */
export function wholeSeconds(duration: Ticks): number {
  return Number(duration / ticksPerSecond);
}
