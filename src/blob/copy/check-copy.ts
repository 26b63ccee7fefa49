import type { Operation } from "../../operation/operation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";

/** While a copy goes on, nothing but aborting it may touch its target. What incremental copies
 *  keep up to date is read through its snapshots alone, and only such copies write it. */
export function checkCopy(operation: Operation, target: BlobRecord): Result<void> {
  const { effect, etag, route, success } = operation;
  const component = route.query?.["comp"];
  if (target.copy?.status === "pending" && effect === "writes" && component !== "copy") {
    return fail("PendingCopyOperation");
  }
  if (target.incrementalCopy !== true || target.snapshot !== undefined) return ok(undefined);
  const readsBytes = success.headers.includes("Content-Range");
  const writesBytes = etag === "renew" && component !== "incrementalcopy";
  return readsBytes || writesBytes
    ? fail("OperationNotAllowedOnIncrementalCopyBlob")
    : ok(undefined);
}
