import { checkProtection } from "../protection/protection.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { BlobRecord } from "../records.ts";

/** A blob whose time is over does not exist, whether or not it was swept away yet. What a hold or a
 *  policy protects outlives its term. */
export function isExpired(record: BlobRecord, now: Ticks): boolean {
  const { expiresAt } = record;
  return expiresAt !== undefined && expiresAt <= now && checkProtection(record, now).ok;
}
