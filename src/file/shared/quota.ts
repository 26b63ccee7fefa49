import { fail } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import { usageCounter, type ShareRecord } from "../records.ts";
import { quotaBytes } from "./limits.ts";

/** Distance from the quota below which the counter is validated. More bytes than all concurrent
 *  writes to a share can add. */
const nearBytes = 8n * 1024n ** 3n;

/** Reads how many bytes the files of a share use. Far from the quota the read is not validated, so
 *  that concurrent writers do not conflict. Near the quota it is validated, because concurrent
 *  writers could exceed the quota together. */
export async function usedBytes(view: RecordView, share: ShareRecord): Promise<bigint> {
  const counter = usageCounter(share.id);
  const used = await view.count(counter);
  return used + nearBytes < quotaBytes(share) ? used : view.count(counter, true);
}

/** Whether the quota permits `delta` more bytes. A change that frees bytes is always permitted. */
export function fitsQuota(share: ShareRecord, used: bigint, delta: number): boolean {
  return delta <= 0 || used + BigInt(delta) <= quotaBytes(share);
}

export const quotaExceeded = fail("ShareSizeLimitReached");
