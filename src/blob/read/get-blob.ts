import { blobRead } from "../blob-policy.ts";
import { encryptionOfProperties, encryption } from "../../protocol/encryption.ts";
import { operation } from "../resources.ts";
import { tierHeaders } from "../tier/rehydration.ts";
import { storedMd5 } from "../shared/create-blob.ts";
import { blobProperties, lastAccessUpdate } from "./blob-properties.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { replyBody, structuredHeaders, wantsStructured } from "../../operation/structured-reply.ts";
import type { Param } from "../../protocol/params.ts";
import { clipRange, parseReadRange, rangeChecksum, type ByteRange } from "../../protocol/ranges.ts";
import { fail, ok } from "../../protocol/result.ts";
import { rangeChecksumBytesMax } from "../shared/limits.ts";
import type { Version } from "../../protocol/versions.ts";

/** Get Blob, Get Blob Properties and Get Blob Metadata. The Data Lake API wraps them
 *  (`blob/dfs/read/read-path.ts`). */

/** Returns the headers of a blob.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-properties */
export const getBlobProperties = operation({
  ...blobRead,
  name: "Get Blob Properties",
  ids: ["Blob_GetProperties"],
  route: { method: "HEAD", resource: "blob" },
  params: { encryption: encryptionOfProperties },
  decide: (context) => ({
    metadata: context.target.metadata,
    headers: [
      ...blobProperties(context),
      tierHeaders(context.target),
      {
        "Content-MD5": storedMd5(context.target.headers),
        "Content-Length": String(context.target.content.length),
      },
    ],
  }),
});

/** learn.microsoft.com/rest/api/storageservices/get-blob-metadata */
export const getBlobMetadata = operation({
  ...blobRead,
  name: "Get Blob Metadata",
  ids: ["Blob_GetMetadata_GET", "Blob_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "blob", query: { comp: "metadata" } },
  params: { encryption: encryptionOfProperties },
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** `x-ms-range` if it is sent, otherwise `Range`. A malformed value means no range: the other
 *  header is not tried. */
export const readRange: Param<ByteRange | undefined> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const text = reader.header("x-ms-range") ?? reader.header("range");
    return ok(text === undefined ? undefined : parseReadRange(text));
  },
};

/** The first version whose responses contain the tier. */
const tierSince: Version = "2026-10-06";

/** Returns the bytes of a blob or of a range.
 *  learn.microsoft.com/rest/api/storageservices/get-blob */
export const getBlob = operation({
  ...blobRead,
  name: "Get Blob",
  ids: ["Blob_Download"],
  route: { method: "GET", resource: "blob" },
  params: {
    range: readRange,
    rangeChecksum,
    encryption,
    wantsStructured,
  },
  policy: { ...blobRead.policy, content: "read" },
  decide: (context) => {
    const { target, input } = context;
    const total = target.content.length;
    const { range: requested, rangeChecksum: checksum } = input;
    // A request for a checksum of the range takes precedence: its bytes are sent unchanged.
    const isStructured = input.wantsStructured === true && checksum === undefined;
    const isTierSent = context.version >= tierSince;
    const properties = [...blobProperties(context), ...(isTierSent ? [tierHeaders(target)] : [])];
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
      const body = replyBody({ content, from: 0, length: total }, isStructured);
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
      body: replyBody({ content, ...span, checksum }, isStructured),
    };
  },
});

/** The fault for a checksum that is requested without a range, or of a range longer than 4 MiB. */
function checksumFault(checksum: "md5" | "crc64") {
  return invalidHeader(`x-ms-range-get-content-${checksum}`, "true");
}
