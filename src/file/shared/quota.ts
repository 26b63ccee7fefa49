import { fail, ok, type Result } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import { usageCounter, type ShareRecord } from "../records.ts";
import { quotaBytes } from "./limits.ts";

/** More than all that can be on its way into a share at one moment. */
const nearBytes = 8n * 1024n ** 3n;

/** What the files of a share hold. Far from the quota writers do not meet in it; near to it they
 *  do, because together they would go past it. */
export async function usedBytes(view: RecordView, share: ShareRecord): Promise<bigint> {
  const counter = usageCounter(share.id);
  const used = await view.count(counter);
  return used + nearBytes < quotaBytes(share) ? used : view.count(counter, true);
}

export function checkQuota(share: ShareRecord, used: bigint, delta: number): Result<void> {
  if (delta <= 0 || used + BigInt(delta) <= quotaBytes(share)) return ok(undefined);
  return fail("ShareSizeLimitReached");
}
