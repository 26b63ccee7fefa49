import { emptyContent } from "../../content/content-ref.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { boolean, header } from "../../protocol/params.ts";
import { clipRange } from "../../protocol/ranges.ts";
import { fail } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { propertiesAccess, readAccess } from "../locks/file-access.ts";
import { rangeChecksumBytesMax } from "../shared/limits.ts";
import { readRange } from "../shared/range-params.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { fileProperties, filePropertyNames } from "./file-properties.ts";

/** learn.microsoft.com/rest/api/storageservices/get-file */
export const getFile = fileOperation({
  name: "Get File",
  ids: ["File_Download"],
  route: { method: "GET", resource: "file" },
  since: "2015-02-21",
  params: {
    range: readRange,
    rangeMd5: header("x-ms-range-get-content-md5", boolean),
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "r", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-given",
  etag: "keep",
  fileAccess: {
    ...readAccess,
    range: ({ range }, { content = emptyContent }) => {
      const end = content.length - 1;
      const { first = 0, last = end } = range ?? {};
      return byteSpan(first, Math.min(last, end) - first + 1);
    },
  },
  effect: "reads",
  success: {
    status: 200,
    headers: [...filePropertyNames, "Accept-Ranges", "Content-Range", "x-ms-content-md5"],
  },
  decide: ({ target, address, input, version, now }) => {
    const { content = emptyContent, metadata } = target;
    const { range: asked, rangeMd5 } = input;
    const properties = fileProperties({ target, address, version, now });
    const headers = { ...properties, "Accept-Ranges": "bytes" };
    if (asked === undefined) {
      if (rangeMd5 === true) return invalidHeader("x-ms-range-get-content-md5", "true");
      return { metadata, headers, body: { content, from: 0, length: content.length } };
    }
    const span = clipRange(asked, content.length);
    if (span === undefined) {
      return fail("InvalidRange", { headers: { "Content-Range": `bytes */${content.length}` } });
    }
    if (rangeMd5 === true && span.length > rangeChecksumBytesMax) {
      return invalidHeader("x-ms-range-get-content-md5", "true");
    }
    const last = span.from + span.length - 1;
    return {
      status: 206,
      metadata,
      headers: {
        ...headers,
        "Content-MD5": undefined,
        "x-ms-content-md5": headers["Content-MD5"],
        "Content-Range": `bytes ${span.from}-${last}/${content.length}`,
      },
      body: { content, ...span, checksum: rangeMd5 === true ? ("md5" as const) : undefined },
    };
  },
});

/** learn.microsoft.com/rest/api/storageservices/get-file-properties */
export const getFileProperties = fileOperation({
  name: "Get File Properties",
  ids: ["File_GetProperties"],
  route: { method: "HEAD", resource: "file" },
  since: "2015-02-21",
  params: { keepsTrailingDots },
  body: noBody,
  permission: { letters: "r", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-given",
  etag: "keep",
  fileAccess: propertiesAccess,
  effect: "reads",
  success: { status: 200, headers: [...filePropertyNames, "Content-Length"] },
  decide: ({ target, address, version, now }) => ({
    metadata: target.metadata,
    headers: {
      ...fileProperties({ target, address, version, now }),
      "Content-Length": String(target.content?.length ?? 0),
    },
  }),
});
