import { emptyContent } from "../../content/content-ref.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { propertiesRead } from "../../operation/operation.ts";
import { replyBody, structuredHeaders, wantsStructured } from "../../operation/structured-reply.ts";
import { boolean, header } from "../../protocol/params.ts";
import { clipRange } from "../../protocol/ranges.ts";
import { fail } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { propertiesAccess, readAccess } from "../locks/file-access.ts";
import { rangeChecksumBytesMax } from "../shared/limits.ts";
import { formatHttpDate } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { CopyState, NodeRecord } from "../records.ts";
import type { FileAddress } from "../file-address.ts";
import { renderHttpHeaders, storedMd5 } from "../shared/http-headers.ts";
import { leaseHeaders } from "../../protocol/lease.ts";
import { smbHeaders } from "../shared/smb-properties.ts";
import { readRange } from "../shared/range-params.ts";

/** Get File and Get File Properties. */

interface FilePropertiesContext {
  readonly target: NodeRecord;
  readonly address: FileAddress;
  readonly version: string;
  readonly now: Ticks;
}

/** Headers of Get File and Get File Properties. A file in a share snapshot has no lease headers. */
function fileProperties({ target, address, version, now }: FilePropertiesContext, isWhole = true) {
  return [
    renderHttpHeaders(target.headers ?? {}, isWhole),
    address.snapshot === undefined ? leaseHeaders(target.lease, now) : {},
    smbHeaders(target, version),
    copyHeaders(target.copy),
    { "x-ms-type": "File", "x-ms-server-encrypted": "true" },
  ];
}

function copyHeaders(copy: CopyState | undefined) {
  if (copy === undefined) return {};
  return {
    "x-ms-copy-id": copy.id,
    "x-ms-copy-source": copy.source,
    "x-ms-copy-status": copy.status,
    "x-ms-copy-progress": copy.progress,
    "x-ms-copy-completion-time":
      copy.completed === undefined ? undefined : formatHttpDate(copy.completed),
  };
}

/** Returns the bytes of a file, or a range of them.
 *  learn.microsoft.com/rest/api/storageservices/get-file */
export const getFile = fileOperation({
  ...propertiesRead,
  name: "Get File",
  ids: ["File_Download"],
  route: { method: "GET", resource: "file" },
  params: {
    range: readRange,
    rangeMd5: header("x-ms-range-get-content-md5", boolean),
    wantsStructured,
  },
  permission: { letters: "r", resourceType: "o" },
  fileAccess: {
    ...readAccess,
    range: ({ range }, { content = emptyContent }) => {
      const end = content.length - 1;
      const { first = 0, last = end } = range ?? {};
      return byteSpan(first, Math.min(last, end) - first + 1);
    },
  },
  event: "none",
  decide: ({ target, address, input, version, now }) => {
    const { content = emptyContent, metadata } = target;
    const { range: requested, rangeMd5 } = input;
    const headers = [
      ...fileProperties({ target, address, version, now }, requested === undefined),
      { "Accept-Ranges": "bytes" },
    ];
    // A request for the MD5 of the range takes precedence: its bytes are sent unchanged.
    const isStructured = input.wantsStructured === true && rangeMd5 !== true;
    if (requested === undefined) {
      if (rangeMd5 === true) return invalidHeader("x-ms-range-get-content-md5", "true");
      const { length } = content;
      return {
        metadata,
        headers: [...headers, ...structuredHeaders(isStructured, length)],
        body: replyBody({ content, from: 0, length }, isStructured),
      };
    }
    const span = clipRange(requested, content.length);
    if (span === undefined) {
      return fail("InvalidRange", { headers: { "Content-Range": `bytes */${content.length}` } });
    }
    if (rangeMd5 === true && span.length > rangeChecksumBytesMax) {
      return invalidHeader("x-ms-range-get-content-md5", "true");
    }
    const last = span.from + span.length - 1;
    const checksum = rangeMd5 === true ? ("md5" as const) : undefined;
    return {
      status: 206,
      metadata,
      headers: [
        {
          "x-ms-content-md5": storedMd5(target.headers ?? {}),
          "Content-Range": `bytes ${span.from}-${last}/${content.length}`,
        },
        ...structuredHeaders(isStructured, span.length),
      ],
      body: replyBody({ content, ...span, checksum }, isStructured),
    };
  },
});

/** Returns properties and metadata of a file.
 *  learn.microsoft.com/rest/api/storageservices/get-file-properties */
export const getFileProperties = fileOperation({
  ...propertiesRead,
  name: "Get File Properties",
  ids: ["File_GetProperties"],
  route: { method: "HEAD", resource: "file" },
  permission: { letters: "r", resourceType: "o" },
  fileAccess: propertiesAccess,
  event: "none",
  decide: ({ target, address, version, now }) => ({
    metadata: target.metadata,
    headers: [
      ...fileProperties({ target, address, version, now }),
      { "Content-Length": String(target.content?.length ?? 0) },
    ],
  }),
});
