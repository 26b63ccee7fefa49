import { header, integer } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";

/** Where the client believes the blob to end. */
export const appendPosition = header(
  "x-ms-blob-condition-appendpos",
  integer(0, Number.MAX_SAFE_INTEGER),
);

/** How long the blob may become. */
export const maxSize = header("x-ms-blob-condition-maxsize", integer(0, Number.MAX_SAFE_INTEGER));

export interface AppendConditions {
  readonly appendPosition: number | undefined;
  readonly maxSize?: number | undefined;
}

/** Whether `length` more bytes may follow. Both conditions speak of the blob as it is now. */
export function checkAppend(
  target: BlobRecord,
  conditions: AppendConditions,
  length: number,
): Result<undefined> {
  if (target.type !== "AppendBlob") return fail("InvalidBlobType");
  const present = target.content.length;
  if (conditions.appendPosition !== undefined && conditions.appendPosition !== present) {
    return fail("AppendPositionConditionNotMet");
  }
  if (conditions.maxSize !== undefined && present + length > conditions.maxSize) {
    return fail("MaxBlobSizeConditionNotMet");
  }
  return ok(undefined);
}
