import { fileTimeStart, ticksMax, type Ticks } from "../base/ticks.ts";

/** The version id of a soft-deleted container or share, which List returns and Restore takes. */

/** Formats the version id that distinguishes deleted containers or shares of one name:
 *  `01D746BFF6C0BF6C`, the time of the deletion as a Windows file time. */
export function formatDeletedVersion(deletedAt: Ticks): string {
  return (deletedAt - fileTimeStart).toString(16).toUpperCase().padStart(16, "0");
}

/** Parses the version of a deleted container or share. Undefined if the text is malformed or after
 *  the last time that a key can contain. */
export function parseDeletedVersion(text: string): Ticks | undefined {
  if (!/^[0-9A-F]{16}$/i.test(text)) return undefined;
  const deletedAt = BigInt(`0x${text}`) + fileTimeStart;
  return deletedAt <= ticksMax ? deletedAt : undefined;
}
