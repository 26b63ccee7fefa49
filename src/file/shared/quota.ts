import { fail } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import { usageCounter, type ShareRecord } from "../records.ts";
import { quotaBytes } from "./limits.ts";

/** More bytes than all concurrent writes of a share can add. */
const nearBytes = 8n * 1024n ** 3n;

/** Bytes that the files of a share hold. Far from the quota the counter is not validated, so that
 *  concurrent writers do not conflict; near it is, because together they could exceed the quota. */
export async function usedBytes(view: RecordView, share: ShareRecord): Promise<bigint> {
  const counter = usageCounter(share.id);
  const used = await view.count(counter);
  return used + nearBytes < quotaBytes(share) ? used : view.count(counter, true);
}

/** Whether a share has room for `delta` more bytes; a file may always shrink. */
export function fitsQuota(share: ShareRecord, used: bigint, delta: number): boolean {
  return delta <= 0 || used + BigInt(delta) <= quotaBytes(share);
}

export const quotaExceeded = fail("ShareSizeLimitReached");
