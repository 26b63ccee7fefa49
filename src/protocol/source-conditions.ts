import { checkRead, checkWrite, namesNoETag } from "./conditions.ts";
import type { Conditions, ConditionTarget } from "./conditions.ts";
import { faultMessage, faultStatus } from "./faults.ts";
import { fail, type Result } from "./result.ts";

/** Which fault codes report a failed condition of a copy source. `copy`: those of the asynchronous
 *  Copy Blob; `blob-from-url`: of Copy Blob, Put Blob and Put Block From URL; `range-from-url`: of
 *  Put Page and Append Block From URL. */
export type SourceStyle = "copy" | "blob-from-url" | "range-from-url";

/** Checks the conditions of a copy source. Recorded: the From URL operations return the fault of
 *  reading the source. */
export function checkSource(
  conditions: Conditions,
  source: ConditionTarget,
  style: SourceStyle,
): Result<undefined> {
  if (style === "copy") {
    return checkWrite(conditions, source, { creates: false, failedCode: "SourceConditionNotMet" });
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
