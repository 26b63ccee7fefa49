import { clear, write } from "../../content/plan.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { bodyTooLarge, invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { encryptionHeaderNames, encryptionHeaders } from "../shared/blob-encryption.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { bodyChecksum } from "../shared/checksum-headers.ts";
import { inlinePartBytesMax, putPageBytesMax } from "../shared/limits.ts";
import { checkSequence, pageRange, sequenceConditions } from "./page-params.ts";
import type { SequenceConditions } from "./page-params.ts";

const query = { comp: "page" };
const sequence = sequenceConditions("InvalidInput");

export const pageReplyHeaders = [
  "Content-MD5",
  "x-ms-content-crc64",
  "x-ms-blob-sequence-number",
  "x-ms-request-server-encrypted",
  ...encryptionHeaderNames,
] as const;

export function checkPages(
  target: BlobRecord,
  range: Span,
  conditions: SequenceConditions,
): Result<undefined> {
  const allowed = checkSequence(target, conditions);
  if (!allowed.ok) return allowed;
  return range.from + range.length > target.content.length
    ? fail("InvalidPageRange")
    : ok(undefined);
}

interface PageWrite {
  readonly target: BlobRecord;
  readonly received: ReceivedBody;
  readonly input: { readonly range: Span };
  readonly version: string;
}

/** The decision of Put Page and Put Page From URL: overwrites whole pages. */
export function pagesReply({ target, received, input, version }: PageWrite) {
  return {
    put: target,
    content: write(target.content, input.range.from, received),
    headers: {
      ...bodyChecksum(received, version),
      "x-ms-blob-sequence-number": String(target.sequenceNumber ?? 0n),
      "x-ms-request-server-encrypted": "true",
      ...encryptionHeaders(target),
    },
  };
}

/** learn.microsoft.com/rest/api/storageservices/put-page */
export const putPage = operation({
  name: "Put Page",
  ids: ["PageBlob_UploadPages"],
  route: {
    method: "PUT",
    resource: "blob",
    query,
    headers: { "x-ms-page-write": "update", "x-ms-copy-source": false },
  },
  since: "2009-09-19",
  params: { range: pageRange, sequence, encryption },
  body: {
    kind: "content",
    lengthMax: () => putPageBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    md5Always: false,
    nonEmpty: true,
  },
  permission: { letters: "w", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: { content: "change", generations: "current", pendingCopy: "reject", clientKey: "match" },
  success: { status: 201, headers: pageReplyHeaders },
  decide: (context) => {
    const { target, received, input } = context;
    const { range } = input;
    if (range.length > putPageBytesMax) return bodyTooLarge(putPageBytesMax);
    if (range.length !== received.length) {
      return invalidHeader("Content-Length", String(received.length));
    }
    const allowed = checkPages(target, range, input.sequence);
    return allowed.ok ? pagesReply(context) : allowed;
  },
});

/** Put Page with `x-ms-page-write: clear`. Cleared pages read as zeros and use no space. */
export const clearPages = operation({
  name: "Put Page",
  ids: ["PageBlob_ClearPages"],
  route: { method: "PUT", resource: "blob", query, headers: { "x-ms-page-write": "clear" } },
  since: "2009-09-19",
  params: { range: pageRange, sequence, encryption },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: { content: "change", generations: "current", pendingCopy: "reject", clientKey: "match" },
  success: { status: 201, headers: ["x-ms-blob-sequence-number"] },
  decide: ({ target, input }) => {
    const allowed = checkPages(target, input.range, input.sequence);
    if (!allowed.ok) return allowed;
    const { from: at, length } = input.range;
    return {
      put: target,
      content: clear(target.content, { at, length }),
      headers: { "x-ms-blob-sequence-number": String(target.sequenceNumber ?? 0n) },
    };
  },
});
