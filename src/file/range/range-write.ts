import { header, oneOf } from "../../protocol/params.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { NodeRecord } from "../records.ts";
import { isReadOnly } from "../shared/attributes.ts";

/** Whether the write sets the last write time (`now`, the default) or leaves it as it is
 *  (`preserve`). */
export const keepsLastWrite = header("x-ms-file-last-write-time", oneOf("now", "preserve"));

/** Rejects a write to a read-only file, and one beyond the end of the file. */
export function checkRange(target: NodeRecord, range: Span, length: number): Result<void> {
  if (isReadOnly(target)) return fail("ReadOnlyAttribute");
  return range.from + range.length > length ? fail("InvalidRange") : ok(undefined);
}
