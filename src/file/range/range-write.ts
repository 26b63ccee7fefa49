import { header, oneOf } from "../../protocol/params.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { NodeRecord } from "../records.ts";
import { isReadOnly } from "../shared/attributes.ts";

/** `preserve` keeps the last write time. */
export const keepsLastWrite = header("x-ms-file-last-write-time", oneOf("now", "preserve"));

export function checkRange(target: NodeRecord, range: Span, length: number): Result<void> {
  if (isReadOnly(target)) return fail("ReadOnlyAttribute");
  return range.from + range.length > length ? fail("InvalidRange") : ok(undefined);
}
