import { fail, ok, type Result } from "../../core/result.ts";
import type { RecordView } from "../../core/view.ts";
import { usageCounter, type ShareRecord } from "../records.ts";
import { quotaBytes } from "./limits.ts";

/** What the files of a share hold. Writers do not meet in it, so that a few who write at the same
 *  moment may go past the quota together by what they write. */
export function usedBytes(view: RecordView, share: ShareRecord): Promise<bigint> {
  return view.count(usageCounter(share.id));
}

export function checkQuota(share: ShareRecord, used: bigint, delta: number): Result<void> {
  if (delta <= 0 || used + BigInt(delta) <= quotaBytes(share)) return ok(undefined);
  return fail("ShareSizeLimitReached");
}
