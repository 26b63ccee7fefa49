import type { Ticks } from "../../core/ticks.ts";

/** 1601-01-01 in ticks: what the file system counts from. */
export const fileTimeEpochTicks = 504_911_232_000_000_000n;

/** A deleted share is told from others of its name by when it was deleted: `01D6F41A4D6647BA`. */
export function formatDeletedVersion(deletedAt: Ticks): string {
  return (deletedAt - fileTimeEpochTicks).toString(16).toUpperCase().padStart(16, "0");
}

const form = /^[0-9A-Fa-f]{16}$/;

export function parseDeletedVersion(text: string): Ticks | undefined {
  return form.test(text) ? BigInt(`0x${text}`) + fileTimeEpochTicks : undefined;
}
