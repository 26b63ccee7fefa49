import type { Ticks } from "../../core/ticks.ts";

/** 1601-01-01, from which Windows counts file times. */
const fileTimeStart = 504_911_232_000_000_000n;

/** How the service tells deleted containers of one name apart: `01D746BFF6C0BF6C`. */
export function formatDeletedVersion(deletedAt: Ticks): string {
  return (deletedAt - fileTimeStart).toString(16).toUpperCase().padStart(16, "0");
}

export function parseDeletedVersion(text: string): Ticks | undefined {
  return /^[0-9A-F]{16}$/i.test(text) ? BigInt(`0x${text}`) + fileTimeStart : undefined;
}
