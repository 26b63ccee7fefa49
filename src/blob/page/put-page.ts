import { invalidHeader, missingHeader, bodyTooLarge } from "../../protocol/faults.ts";
import { header, integer, oneOf, type Param } from "../../protocol/params.ts";
import { pageBytes, parsePageRange, type Span } from "../../protocol/ranges.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";
import { pageBlobBytesMax, putPageBytesMax } from "../shared/limits.ts";
import { clear, write, type ReceivedBody } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { encryptionHeaders, bodyChecksum, bothChecksums } from "../shared/create-blob.ts";
import { blobChange } from "../blob-policy.ts";
import { pageTiers } from "../tier/rehydration.ts";
import { addCleared } from "./cleared-ranges.ts";
import { operation } from "../resources.ts";
import { partBody, partSource } from "../shared/write-part.ts";

/** Put Page in its three forms (bytes in the request, bytes at a URL, clearing): writes ranges of
 *  512-byte pages of a page blob, Azure's form of a disk. Also the parameters that other operations
 *  on page blobs have. */

/** Azure's limit of the sequence number of a page blob, which clients set for conditional
 *  writes. */
export const sequenceNumberMax = 2n ** 63n - 1n;

export const pageTier = header("x-ms-access-tier", oneOf(...pageTiers));

const anyLength = integer(0, pageBlobBytesMax);

/** `x-ms-blob-content-length`: a multiple of 512, up to 8 TiB. */
export const pageBlobLength = header("x-ms-blob-content-length", (text) => {
  const length = anyLength(text);
  return length === undefined || !isPageBlobLength(length) ? undefined : length;
});

export function isPageBlobLength(length: number): boolean {
  return length <= pageBlobBytesMax && length % pageBytes === 0;
}

export const sequenceNumber = header("x-ms-blob-sequence-number", parseSequenceNumber);

export function parseSequenceNumber(text: string): bigint | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined;
  const number = BigInt(text);
  return number <= sequenceNumberMax ? number : undefined;
}

/** The range of pages that a request writes: `x-ms-range`, otherwise `Range`; one of them is
 *  required. */
const pageRange: Param<Span> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const own = reader.header("x-ms-range");
    const text = own ?? reader.header("range");
    if (text === undefined) return missingHeader("Range");
    return parsePageRange(own === undefined ? "Range" : "x-ms-range", text);
  },
};

/** Conditions on the sequence number of a page blob; undefined if not sent. */
interface SequenceConditions {
  readonly atMost: bigint | undefined;
  readonly below: bigint | undefined;
  readonly equal: bigint | undefined;
}

const sequenceHeaders = {
  atMost: "x-ms-if-sequence-number-le",
  below: "x-ms-if-sequence-number-lt",
  equal: "x-ms-if-sequence-number-eq",
} as const;

/** The parser of the sequence number conditions. `negative` is the fault code for a negative
 *  number, in which Put Page and Put Page From URL differ (recorded from Azure). */
function sequenceConditions(negative: "InvalidInput" | "InvalidHeaderValue") {
  const param: Param<SequenceConditions> = {
    sources: Object.values(sequenceHeaders),
    parse: (reader) => {
      const found: Record<string, bigint> = {};
      for (const [field, name] of Object.entries(sequenceHeaders)) {
        const text = reader.header(name);
        if (text === undefined || text === "") continue;
        const number = parseSequenceNumber(text);
        if (number === undefined) {
          const isNegative = negative === "InvalidInput" && /^-\d+$/.test(text);
          return isNegative ? fail("InvalidInput") : invalidHeader(name, text);
        }
        found[field] = number;
      }
      return ok({ atMost: found["atMost"], below: found["below"], equal: found["equal"] });
    },
  };
  return param;
}

function checkSequence(
  { type, sequenceNumber: current = 0n }: BlobRecord,
  { atMost, below, equal }: SequenceConditions,
): Result<undefined> {
  if (type !== "PageBlob") return fail("InvalidBlobType");
  const met =
    (atMost === undefined || current <= atMost) &&
    (below === undefined || current < below) &&
    (equal === undefined || current === equal);
  return met ? ok(undefined) : fail("SequenceNumberConditionNotMet");
}

const sequence = sequenceConditions("InvalidInput");

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

/** What the declarations of operations that write or clear pages have in common. */
const pageChange = { ...blobChange, namespace: "flat", ifNoneMatchAny: "ignored" } as const;

function pageRoute(headers: Readonly<Record<string, string | boolean>>) {
  return { method: "PUT", resource: "blob", query: { comp: "page" }, headers } as const;
}

/** Writes whole pages of 512 bytes. learn.microsoft.com/rest/api/storageservices/put-page */
export const putPage = operation({
  ...pageChange,
  name: "Put Page",
  ids: ["PageBlob_UploadPages"],
  route: pageRoute({ "x-ms-page-write": "update", "x-ms-copy-source": false }),
  params: { range: pageRange, sequence, encryption },
  body: partBody(() => putPageBytesMax),
  status: 201,
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

/** Put Page whose bytes are read from a URL.
 *  learn.microsoft.com/rest/api/storageservices/put-page-from-url */
export const putPageFromUrl = operation({
  ...pageChange,
  name: "Put Page From URL",
  ids: ["PageBlob_UploadPagesFromURL"],
  route: pageRoute({ "x-ms-page-write": "update", "x-ms-copy-source": true }),
  since: "2018-11-09",
  params: { range: pageRange, sequence: sequenceConditions("InvalidHeaderValue"), encryption },
  body: partSource({ lengthMax: () => putPageBytesMax, style: "range-from-url", md5Always: true }),
  namedResources: [copySource],
  conditionFaults: { noETag: "TargetConditionNotMet" },
  status: 201,
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
  params: { range: pageRange, sequence, encryption },
  status: 201,
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
