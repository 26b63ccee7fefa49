import { blobRead } from "../blob-policy.ts";
import { encryptionOfProperties, encryption } from "../../protocol/encryption.ts";
import { operation } from "../resources.ts";
import { tierHeaders } from "../tier/rehydration.ts";
import { blobProperties, lastAccessUpdate } from "./blob-properties.ts";
import { contentReply, storedMd5, wantsStructured } from "../../operation/content-reply.ts";
import type { Param } from "../../protocol/params.ts";
import { parseReadRange, rangeChecksum, type ByteRange } from "../../protocol/ranges.ts";
import { ok } from "../../protocol/result.ts";
import type { Version } from "../../protocol/versions.ts";

/** Get Blob, Get Blob Properties and Get Blob Metadata. The Data Lake API wraps them
 *  (`blob/dfs/read/read-path.ts`). */

/** Returns the properties of a blob as headers, without its bytes.
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

/** Returns only the metadata of a blob.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-metadata */
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

/** The first x-ms-version in which responses of Get Blob contain the access tier. */
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
    const { target, input, version } = context;
    const { content, headers, metadata } = target;
    const properties = blobProperties(context);
    if (version >= tierSince) properties.push(tierHeaders(target));
    const { range, rangeChecksum: checksum } = input;
    const read = { content, metadata, range, checksum, wantsStructured: input.wantsStructured };
    const stored = { md5: storedMd5(headers), rangeHeader: "x-ms-blob-content-md5" } as const;
    const { deferredUpdate } = lastAccessUpdate(context);
    return contentReply(read, properties, stored, deferredUpdate);
  },
});
