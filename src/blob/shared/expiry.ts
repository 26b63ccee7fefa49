import { checkProtection } from "../protection/protection.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { BlobRecord } from "../records.ts";

/** Whether a blob has expired and must be treated as absent; a reclaim job removes its record
 *  later. A legal hold or immutability policy defers the expiry. */
export function isExpired(record: BlobRecord, now: Ticks): boolean {
  const { expiresAt } = record;
  return expiresAt !== undefined && expiresAt <= now && checkProtection(record, now).ok;
}
