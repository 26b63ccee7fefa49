import { ticksMax, type Ticks } from "../base/ticks.ts";

/** 1601-01-01, the start of Windows file times. */
export const fileTimeStart = 504_911_232_000_000_000n;

/** The version id that distinguishes deleted containers or shares of one name:
 *  `01D746BFF6C0BF6C`. */
export function formatDeletedVersion(deletedAt: Ticks): string {
  return (deletedAt - fileTimeStart).toString(16).toUpperCase().padStart(16, "0");
}

/** Undefined if malformed or after the last tick, which would not fit into a key. */
export function parseDeletedVersion(text: string): Ticks | undefined {
  if (!/^[0-9A-F]{16}$/i.test(text)) return undefined;
  const deletedAt = BigInt(`0x${text}`) + fileTimeStart;
  return deletedAt <= ticksMax ? deletedAt : undefined;
}
