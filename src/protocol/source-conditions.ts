import { checkRead, checkWrite, namesNoETag } from "./conditions.ts";
import type { Conditions, ConditionTarget } from "./conditions.ts";
import { faultMessage, faultStatus } from "./faults.ts";
import type { FaultDetail } from "./faults.ts";
import { fail, type Failure, type Result } from "./result.ts";
import type { Version } from "./versions.ts";

/** Conditions on the source of a copy, and the faults of sources that cannot be read. Used by
 *  copies inside a service and by those from a URL. */

/** Which fault codes report a failed condition of a copy source. `copy`: those of the asynchronous
 *  Copy Blob; `blob-from-url`: of Copy Blob, Put Blob and Put Block From URL; `range-from-url`: of
 *  Put Page and Append Block From URL. */
export type SourceStyle = "copy" | "blob-from-url" | "range-from-url";

/** Checks the conditions of a copy source. Recorded from Azure: the From URL operations return the
 *  fault of reading the source. */
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

/** The first version that reports the error of a copy source beside that of the copy. */
const sourceErrorSince: Version = "2024-02-04";

/** The error response of a source, which the fault of the copy repeats. */
interface SourceError {
  readonly status: number;
  /** The code in `x-ms-error-code`; undefined if the source has none, as on other web servers. */
  readonly code: string | undefined;
  readonly message: string;
}

/** The fault of a copy whose source cannot be read: 404 CannotVerifyCopySource or similar. Status
 *  and code of the source are in separate headers and elements, by which client libraries retry the
 *  copy if the source was busy. */
export function cannotVerifySource(
  { status, code, message }: SourceError,
  version: string,
  detail: FaultDetail,
): Failure {
  // The source may be any server, whose code is not returned unless it has the form of one.
  if (version < sourceErrorSince || !/^\w{1,64}$/.test(code ?? "")) {
    return fail("CannotVerifyCopySource", detail);
  }
  return fail("CannotVerifyCopySource", {
    ...detail,
    headers: {
      ...detail.headers,
      "x-ms-copy-source-status-code": String(status),
      "x-ms-copy-source-error-code": code ?? "",
    },
    elements: {
      ...detail.elements,
      CopySourceStatusCode: String(status),
      CopySourceErrorCode: code ?? "",
      CopySourceErrorMessage: message,
    },
  });
}

/** As `cannotVerifySource`, for a source of this service, whose fault is known and need not be
 *  parsed from a response. */
export function unverifiedSource({ fault }: Failure, version: string): Failure {
  const status = faultStatus(fault);
  const message = faultMessage(fault);
  return cannotVerifySource({ status, code: fault.code, message }, version, { status, message });
}
