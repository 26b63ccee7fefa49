import {
  isStructuredForm,
  structuredForm,
  structuredLength,
} from "../../content/structured-form.ts";
import { writeStructured } from "../../content/write-structured.ts";
import type { ContentRef } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import type { ReplyBody } from "../../operation/reply.ts";
import { header, type Param } from "../../protocol/params.ts";
import { rangeChecksum } from "../../protocol/range-checksum.ts";
import { clipRange, parseReadRange, type ByteRange } from "../../protocol/ranges.ts";
import { fail, ok } from "../../protocol/result.ts";
import { operation } from "../resources.ts";
import { storedMd5 } from "../shared/http-headers.ts";
import { rangeChecksumBytesMax } from "../shared/limits.ts";
import { blobProperties, blobPropertyNames } from "./blob-properties.ts";
import { lastAccessUpdate } from "./last-access.ts";

/** `x-ms-range` if it is sent, otherwise `Range`. A malformed value means no range: the other
 *  header is not tried. */
const range: Param<ByteRange | undefined> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const text = reader.header("x-ms-range") ?? reader.header("range");
    return ok(text === undefined ? undefined : parseReadRange(text));
  },
};

/** learn.microsoft.com/rest/api/storageservices/get-blob */
export const getBlob = operation({
  name: "Get Blob",
  ids: ["Blob_Download"],
  route: { method: "GET", resource: "blob" },
  since: "2009-09-19",
  params: {
    range,
    rangeChecksum,
    encryption,
    // Undefined means malformed: any other value is a fault.
    wantsStructured: header("x-ms-structured-body", (text) => isStructuredForm(text) || undefined),
  },
  body: noBody,
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
  target: "must-exist",
  conditions: "read",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  policy: { content: "read", generations: "any", pendingCopy: "allow", clientKey: "match" },
  success: {
    status: 200,
    headers: [
      ...blobPropertyNames,
      "Content-Range",
      "x-ms-blob-content-md5",
      "x-ms-content-crc64",
      "x-ms-structured-body",
      "x-ms-structured-content-length",
    ],
  },
  decide: (context) => {
    const { target, input } = context;
    const total = target.content.length;
    const { range: requested, rangeChecksum: checksum } = input;
    // A request for a checksum of the range takes precedence: its bytes are sent unchanged.
    const isStructured = input.wantsStructured === true && checksum === undefined;
    const properties = blobProperties(context);
    const md5 = storedMd5(target.headers);
    const { content, metadata } = target;
    const deferred = lastAccessUpdate(context);
    if (requested === undefined) {
      if (checksum !== undefined) return checksumFault(checksum);
      const headers = [
        ...properties,
        { "Content-MD5": md5 },
        ...structuredHeaders(isStructured, total),
      ];
      const body = bodyOf({ content, from: 0, length: total }, isStructured);
      return { ...deferred, metadata, headers, body };
    }
    const span = clipRange(requested, total);
    if (span === undefined) {
      return fail("InvalidRange", { headers: { "Content-Range": `bytes */${total}` } });
    }
    const isTooLong = span.length > rangeChecksumBytesMax;
    if (checksum !== undefined && isTooLong) return checksumFault(checksum);
    const last = span.from + span.length - 1;
    return {
      ...deferred,
      status: 206,
      metadata,
      headers: [
        ...properties,
        ...structuredHeaders(isStructured, span.length),
        {
          "x-ms-blob-content-md5": md5,
          "Content-Range": `bytes ${span.from}-${last}/${total}`,
        },
      ],
      body: bodyOf({ content, ...span, checksum }, isStructured),
    };
  },
});

/** The bytes to send. `checksum` asks for a header with their checksum. */
interface ContentSpan {
  readonly content: ContentRef;
  readonly from: number;
  readonly length: number;
  readonly checksum?: "md5" | "crc64" | undefined;
}

/** The bytes, as a structured body (with embedded checksums) if requested. */
function bodyOf(span: ContentSpan, isStructured: boolean): ReplyBody {
  if (!isStructured) return span;
  const { length } = span;
  return {
    ...span,
    transform: (chunks) => writeStructured(chunks, length),
    transformedLength: structuredLength(length),
  };
}

function structuredHeaders(isStructured: boolean, length: number) {
  if (!isStructured) return [];
  return [
    {
      "x-ms-structured-body": structuredForm,
      "x-ms-structured-content-length": String(length),
    },
  ];
}

/** The fault for a checksum that is requested without a range, or of a range longer than 4 MiB. */
function checksumFault(checksum: "md5" | "crc64") {
  return invalidHeader(`x-ms-range-get-content-${checksum}`, "true");
}
