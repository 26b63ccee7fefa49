import { emptyContent } from "../../content/content-ref.ts";
import { propertiesRead } from "../../operation/operation.ts";
import { contentReply, storedMd5, wantsStructured } from "../../operation/content-reply.ts";
import { boolean, header } from "../../protocol/params.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { propertiesAccess, readAccess } from "../locks/file-access.ts";
import { formatHttpDate } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { CopyState, NodeRecord } from "../records.ts";
import type { FileAddress } from "../file-address.ts";
import { renderHttpHeaders } from "../shared/http-headers.ts";
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
function fileProperties({ target, address, version, now }: FilePropertiesContext) {
  return [
    renderHttpHeaders(target.headers ?? {}),
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
  decide: (context) => {
    const { content = emptyContent, headers = {}, metadata } = context.target;
    const { range, rangeMd5, wantsStructured: isWanted } = context.input;
    const checksum = rangeMd5 === true ? "md5" : undefined;
    const properties = [...fileProperties(context), { "Accept-Ranges": "bytes" }];
    const stored = { md5: storedMd5(headers), rangeHeader: "x-ms-content-md5" } as const;
    const read = { content, metadata, range, checksum, wantsStructured: isWanted } as const;
    return contentReply(read, properties, stored);
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
  decide: (context) => ({
    metadata: context.target.metadata,
    headers: [
      ...fileProperties(context),
      {
        "Content-MD5": storedMd5(context.target.headers ?? {}),
        "Content-Length": String(context.target.content?.length ?? 0),
      },
    ],
  }),
});
