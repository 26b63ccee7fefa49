import { checkRead, checkWrite, namesNoETag } from "./conditions.ts";
import type { Conditions, ConditionTarget } from "./conditions.ts";
import { faultMessage, faultStatus } from "./faults.ts";
import { fail, type Result } from "./result.ts";

/**
 * How an operation speaks of its source. `copy` is the asynchronous Copy Blob; `blob-from-url` are
 * Copy Blob, Put Blob and Put Block From URL; `range-from-url` are Put Page and Append Block.
 */
export type SourceStyle = "copy" | "blob-from-url" | "range-from-url";

/** All of it recorded: the From URL operations pass on what reading the source answered. */
export function checkSource(
  conditions: Conditions,
  source: ConditionTarget,
  style: SourceStyle,
): Result<undefined> {
  if (style === "copy") {
    return checkWrite(conditions, source, { creates: false, unmet: "SourceConditionNotMet" });
  }
  const verdict = checkRead(conditions, source);
  if (verdict === "not-modified") return fail("CannotVerifyCopySource", { status: 304 });
  if (verdict.ok || verdict.fault.code !== "ConditionNotMet") return verdict;
  if (style === "blob-from-url" && namesNoETag(conditions.ifMatch)) {
    return fail("SourceConditionNotMet");
  }
  const status = faultStatus(verdict.fault);
  if (style === "range-from-url") return fail("CannotVerifyCopySource", { status });
  return fail("CannotVerifyCopySource", { status, message: faultMessage(verdict.fault) });
}
