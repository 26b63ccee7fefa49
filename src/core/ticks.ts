/**
 * A moment in 100 ns steps since 0001-01-01 UTC, as the service itself counts: the hexadecimal form
 * is the ETag, the seven-digit fraction the snapshot name.
 */
export type Ticks = bigint;

export const ticksPerSecond = 10_000_000n;
export const ticksPerMillisecond = 10_000n;
/** 1970-01-01 in ticks. */
export const unixEpochTicks = 621_355_968_000_000_000n;
