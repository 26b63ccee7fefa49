import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import { fail } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import { shareUsage, type ShareRecord } from "../records.ts";

/** Limits of files, and the quota of a share. */

const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

/** Azure's limit of the length of a file: 4 TiB. */
export const fileBytesMax = 4 * 1024 * gibibyte;
/** Azure's limit of the bytes in one Put Range: 4 MiB. */
export const rangeBytesMax = 4 * mebibyte;
/** Azure's unit of ranges: List Ranges rounds to it, and clearing frees only whole sectors. */
export const sectorBytes = 512;

export function quotaBytes({ quotaGib }: { readonly quotaGib: number }): bigint {
  return BigInt(quotaGib) * BigInt(gibibyte);
}

/** Free bytes of a share below which its counter is read with validation (the transaction fails if
 *  the counter changes), so that concurrent writes conflict instead of exceeding the quota
 *  together. Concurrent writes cannot add more than this. */
const nearBytes = 8n * 1024n ** 3n;

/** Reads how many bytes the files of a share have. Far from the quota the read is not validated, so
 *  that concurrent writers do not conflict. Near the quota it is validated, because concurrent
 *  writers could exceed the quota together. */
export function usedBytes(view: RecordView, share: ShareRecord): Awaitable<bigint> {
  const counter = shareUsage.key(share.id);
  return mapAwaitable(view.count(counter), (used) =>
    used + nearBytes < quotaBytes(share) ? used : view.count(counter, true),
  );
}

/** Reads the bytes in use of a share, for the quota check of a file that becomes `grownBytes`
 *  longer; undefined if it does not grow. */
export function readUsed(
  view: RecordView,
  share: ShareRecord,
  grownBytes: number,
): Awaitable<bigint | undefined> {
  return grownBytes <= 0 ? undefined : usedBytes(view, share);
}

/** Whether the quota permits a file to grow by `grownBytes`; `used` is from `readUsed`. */
export function fitsQuota(
  share: ShareRecord,
  used: bigint | undefined,
  grownBytes: number,
): boolean {
  if (grownBytes <= 0) return true;
  if (used === undefined) throw new Error("the quota of a growing file was not read");
  return used + BigInt(grownBytes) <= quotaBytes(share);
}

export const quotaExceeded = fail("ShareSizeLimitReached");
