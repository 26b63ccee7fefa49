import { clear, write } from "../../content/plan.ts";
import { inlinePartBytesMax, type ReceivedBody } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { bodyTooLarge, invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { copySource } from "../../protocol/named-resource.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { encryptionHeaderNames, encryptionHeaders } from "../shared/create-blob.ts";
import { blobChange } from "../blob-policy.ts";
import type { BlobRecord } from "../records.ts";
import { addCleared } from "./cleared-ranges.ts";
import { operation } from "../resources.ts";
import { bodyChecksum, bothChecksums } from "../shared/http-headers.ts";
import { putPageBytesMax } from "../shared/limits.ts";
import { checkSequence, pageRange, sequenceConditions } from "./page-params.ts";
import type { SequenceConditions } from "./page-params.ts";

const sequence = sequenceConditions("InvalidInput");

const pageReplyHeaders = [
  "Content-MD5",
  "x-ms-content-crc64",
  "x-ms-blob-sequence-number",
  "x-ms-request-server-encrypted",
  ...encryptionHeaderNames,
] as const;

function checkPages(
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
function pagesReply({ target, received, input, version }: PageWrite) {
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

/** What the operations that write or clear pages declare. */
const pageChange = { ...blobChange, namespace: "flat", ifNoneMatchAny: "ignored" } as const;

function pageRoute(headers: Readonly<Record<string, string | boolean>>) {
  return { method: "PUT", resource: "blob", query: { comp: "page" }, headers } as const;
}

/** learn.microsoft.com/rest/api/storageservices/put-page */
export const putPage = operation({
  ...pageChange,
  name: "Put Page",
  ids: ["PageBlob_UploadPages"],
  route: pageRoute({ "x-ms-page-write": "update", "x-ms-copy-source": false }),
  since: "2009-09-19",
  params: { range: pageRange, sequence, encryption },
  body: {
    kind: "content",
    lengthMax: () => putPageBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    md5Always: false,
    nonEmpty: true,
  },
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

/** learn.microsoft.com/rest/api/storageservices/put-page-from-url */
export const putPageFromUrl = operation({
  ...pageChange,
  name: "Put Page From URL",
  ids: ["PageBlob_UploadPagesFromURL"],
  route: pageRoute({ "x-ms-page-write": "update", "x-ms-copy-source": true }),
  since: "2018-11-09",
  params: { range: pageRange, sequence: sequenceConditions("InvalidHeaderValue"), encryption },
  body: {
    kind: "source",
    lengthMax: () => putPageBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    style: "range-from-url",
    range: "x-ms-source-range",
    md5Always: true,
    nonEmpty: true,
  },
  namedResources: [copySource],
  conditionFaults: { noETag: "TargetConditionNotMet" },
  success: { status: 201, headers: pageReplyHeaders },
  decide: (context) => {
    const { target, received, input, version } = context;
    const { range } = input;
    if (range.length !== received.length) {
      return invalidHeader("x-ms-range", `bytes=${range.from}-${range.from + range.length - 1}`);
    }
    const allowed = checkPages(target, range, input.sequence);
    if (!allowed.ok) return allowed;
    const reply = pagesReply(context);
    return { ...reply, headers: { ...reply.headers, ...bothChecksums(received, version) } };
  },
});

/** Put Page with `x-ms-page-write: clear`. Cleared pages read as zeros and use no space. */
export const clearPages = operation({
  ...pageChange,
  name: "Put Page",
  ids: ["PageBlob_ClearPages"],
  route: pageRoute({ "x-ms-page-write": "clear" }),
  since: "2009-09-19",
  params: { range: pageRange, sequence, encryption },
  body: noBody,
  success: { status: 201, headers: ["x-ms-blob-sequence-number"] },
  decide: ({ target, input, newETag }) => {
    const allowed = checkPages(target, input.range, input.sequence);
    if (!allowed.ok) return allowed;
    const { from: at, length } = input.range;
    const cleared = addCleared(target.cleared, [at, at + length, newETag]);
    return {
      put: { ...target, cleared },
      content: clear(target.content, { at, length }),
      headers: { "x-ms-blob-sequence-number": String(target.sequenceNumber ?? 0n) },
    };
  },
});
