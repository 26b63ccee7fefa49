import { blobChange } from "../blob-policy.ts";
import { resize } from "../../content/plan.ts";
import { encryptionOfProperties } from "../../protocol/encryption.ts";
import { invalidHeader, missingHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { header, oneOf } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { addCleared } from "../page/cleared-ranges.ts";
import { pageBlobLength, sequenceNumber, sequenceNumberMax } from "../page/page-params.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { compareKeys } from "../shared/create-blob.ts";
import { blobHeaders } from "../shared/http-headers.ts";

type SequenceAction = "max" | "update" | "increment";

/** Replaces all six content headers; absent ones are cleared. A request that only resizes a page
 *  blob or changes its sequence number keeps them.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-properties */
export const setBlobProperties = operation({
  ...blobChange,
  name: "Set Blob Properties",
  ids: ["Blob_SetHTTPHeaders", "PageBlob_Resize", "PageBlob_UpdateSequenceNumber"],
  route: { method: "PUT", resource: "blob", query: { comp: "properties" } },
  since: "2009-09-19",
  params: {
    headers: blobHeaders,
    length: pageBlobLength,
    action: header("x-ms-sequence-number-action", oneOf("max", "update", "increment")),
    number: sequenceNumber,
    encryption: encryptionOfProperties,
  },
  body: noBody,
  policy: { ...blobChange.policy, clientKey: "none", event: "SetBlobProperties" },
  success: { status: 200, headers: ["x-ms-blob-sequence-number"] },
  decide: ({ target, input, newETag }) => {
    const { headers, length, action, number, encryption } = input;
    // Clients send the key when they resize a blob, but not when they set its headers.
    if (encryption.clientKey !== undefined) {
      const same = compareKeys(target.keySha256, encryption.clientKey.sha256);
      if (!same.ok) return same;
    }
    const isPage = target.type === "PageBlob";
    const hasPageParameters = length !== undefined || action !== undefined || number !== undefined;
    if (hasPageParameters && !isPage) return fail("InvalidBlobType");
    const next = nextSequenceNumber(target, action, number);
    if (!next.ok) return next;
    const hasHeaders = Object.values(headers).some((value) => value !== undefined);
    const before = target.content.length;
    const isShortened = length !== undefined && length < before;
    const cleared = isShortened
      ? addCleared(target.cleared, [length, before, newETag])
      : target.cleared;
    const changed = isPage ? { ...target, sequenceNumber: next.value, cleared } : target;
    const resized = length === undefined ? undefined : resize(target.content, length);
    // Recorded: a blob without a content type in this request has none from then on.
    const replaced = { ...headers, contentType: headers.contentType ?? "" };
    return {
      put: hasHeaders || !hasPageParameters ? { ...changed, headers: replaced } : changed,
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
