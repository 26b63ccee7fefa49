import { resize } from "../../content/plan.ts";
import { invalidHeader, missingHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { header, oneOf } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { pageBlobLength, sequenceNumber, sequenceNumberMax } from "../page/page-params.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { blobHeaders } from "../shared/http-headers.ts";

type SequenceAction = "max" | "update" | "increment";

/** Replaces all six content headers; absent ones are cleared. A request that only resizes a page
 *  blob or changes its sequence number keeps them.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-properties */
export const setBlobProperties = operation({
  name: "Set Blob Properties",
  ids: ["Blob_SetHTTPHeaders", "PageBlob_Resize", "PageBlob_UpdateSequenceNumber"],
  route: { method: "PUT", resource: "blob", query: { comp: "properties" } },
  since: "2009-09-19",
  params: {
    headers: blobHeaders,
    length: pageBlobLength,
    action: header("x-ms-sequence-number-action", oneOf("max", "update", "increment")),
    number: sequenceNumber,
  },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: { content: "change", generations: "current", pendingCopy: "reject", clientKey: "none" },
  success: { status: 200, headers: ["x-ms-blob-sequence-number"] },
  decide: ({ target, input }) => {
    const { headers, length, action, number } = input;
    const isPage = target.type === "PageBlob";
    const hasPageParameters = length !== undefined || action !== undefined || number !== undefined;
    if (hasPageParameters && !isPage) return fail("InvalidBlobType");
    const next = nextSequenceNumber(target, action, number);
    if (!next.ok) return next;
    const hasHeaders = Object.values(headers).some((value) => value !== undefined);
    const changed = isPage ? { ...target, sequenceNumber: next.value } : target;
    const resized = length === undefined ? undefined : resize(target.content, length);
    return {
      put: hasHeaders || !hasPageParameters ? { ...changed, headers } : changed,
      ...(resized === undefined ? {} : { content: resized }),
      headers: { "x-ms-blob-sequence-number": isPage ? String(next.value) : undefined },
    };
  },
});

/** The new sequence number of a page blob. `increment` has no number in the request; the other
 *  actions require one. */
function nextSequenceNumber(
  { sequenceNumber: current = 0n }: BlobRecord,
  action: SequenceAction | undefined,
  given: bigint | undefined,
): Result<bigint> {
  const name = "x-ms-blob-sequence-number";
  if (action === undefined) {
    return given === undefined ? ok(current) : missingHeader("x-ms-sequence-number-action");
  }
  if (action === "increment") {
    if (given !== undefined) return invalidHeader(name, String(given));
    return current < sequenceNumberMax ? ok(current + 1n) : fail("SequenceNumberIncrementTooLarge");
  }
  if (given === undefined) return missingHeader(name);
  return ok(action === "max" && current > given ? current : given);
}
