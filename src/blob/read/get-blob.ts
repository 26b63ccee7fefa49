import { encryption } from "../../core/encryption.ts";
import { invalidHeader } from "../../core/faults.ts";
import { noBody } from "../../core/operation.ts";
import { boolean, header, type Param } from "../../core/params.ts";
import { clipRange, parseReadRange, type ByteRange } from "../../core/ranges.ts";
import { fail, ok } from "../../core/result.ts";
import { operation } from "../resources.ts";
import { rangeChecksumBytesMax } from "../shared/limits.ts";
import { blobProperties, blobPropertyNames } from "./blob-properties.ts";

/** `x-ms-range` wins over `Range`; a malformed one is ignored. */
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
    rangeMd5: header("x-ms-range-get-content-md5", boolean),
    rangeCrc64: header("x-ms-range-get-content-crc64", boolean),
    encryption,
  },
  body: noBody,
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
  target: "must-exist",
  conditions: "read",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  success: {
    status: 200,
    headers: [...blobPropertyNames, "Content-Range", "x-ms-blob-content-md5", "x-ms-content-crc64"],
  },
  decide: ({ target, address, input, now }) => {
    const total = target.content.length;
    const { range: asked, rangeMd5, rangeCrc64 } = input;
    const checksum = rangeMd5 === true ? "md5" : rangeCrc64 === true ? "crc64" : undefined;
    const properties = blobProperties({ target, address, now });
    const { content, metadata } = target;
    if (asked === undefined) {
      if (checksum !== undefined) return checksumRefused(checksum);
      return { metadata, headers: properties, body: { content, from: 0, length: total } };
    }
    const span = clipRange(asked, total);
    if (span === undefined) {
      return fail("InvalidRange", { headers: { "Content-Range": `bytes */${total}` } });
    }
    const tooLong =
      span.length > rangeChecksumBytesMax || (rangeMd5 === true && rangeCrc64 === true);
    if (checksum !== undefined && tooLong) return checksumRefused(checksum);
    const last = span.from + span.length - 1;
    return {
      status: 206,
      metadata,
      headers: {
        ...properties,
        "Content-MD5": undefined,
        "x-ms-blob-content-md5": properties["Content-MD5"],
        "Content-Range": `bytes ${span.from}-${last}/${total}`,
      },
      body: { content, ...span, checksum },
    };
  },
});

/** Only a range of at most 4 MiB gets a checksum of its own, and only one kind. */
function checksumRefused(checksum: "md5" | "crc64") {
  return invalidHeader(`x-ms-range-get-content-${checksum}`, "true");
}
