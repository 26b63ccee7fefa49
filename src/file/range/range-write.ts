import { header, oneOf } from "../../protocol/params.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { NodeRecord } from "../records.ts";
import { readOnlyAttribute } from "../shared/attributes.ts";

/** `preserve` leaves the last write time as it is. */
export const keepsLastWrite = header("x-ms-file-last-write-time", oneOf("now", "preserve"));

export function checkRange(target: NodeRecord, range: Span, length: number): Result<void> {
  if ((target.attributes & readOnlyAttribute) !== 0) return fail("ReadOnlyAttribute");
  return range.from + range.length > length ? fail("InvalidRange") : ok(undefined);
}

/** The file after bytes of it changed: `delta` more of them are held. */
export function afterRangeWrite(
  target: NodeRecord,
  {
    delta,
    newETag,
    keepsLastWrite: asked,
  }: {
    readonly delta: number;
    readonly newETag: Ticks;
    readonly keepsLastWrite: "now" | "preserve" | undefined;
  },
): NodeRecord {
  const lastWrite = asked === "preserve" ? target.lastWrite : newETag;
  return { ...target, lastWrite, change: newETag, allocated: (target.allocated ?? 0) + delta };
}
