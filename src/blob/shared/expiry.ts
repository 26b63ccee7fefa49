import type { Ticks } from "../../core/ticks.ts";
import type { BlobRecord } from "../records.ts";

/** A blob whose time is over does not exist, whether or not it was swept away yet. */
export function isExpired({ expiresAt }: BlobRecord, now: Ticks): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}
