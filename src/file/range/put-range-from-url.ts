import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { formatIso } from "../../base/dates.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { header } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { writeAccess } from "../locks/file-access.ts";
import { inlineRangeBytesMax, rangeBytesMax } from "../shared/limits.ts";
import { quotaExceeded, usedBytes } from "../shared/quota.ts";
import { writeRange } from "../shared/range-params.ts";
import { updateNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";
import { coveredBytes } from "./covered.ts";
import { checkRange, keepsLastWrite } from "./range-write.ts";
import { writeBytes } from "./write-rules.ts";

const crc64Bytes = 8;

/** A CRC64 in base64; undefined if malformed. */
function checksum(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes?.length === crc64Bytes ? bytes : undefined;
}

/** Put Range with bytes that the server reads from a URL.
 *  learn.microsoft.com/rest/api/storageservices/put-range-from-url */
export const putRangeFromUrl = fileOperation({
  name: "Put Range From URL",
  ids: ["File_UploadRangeFromURL"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "range" },
    headers: { "x-ms-write": "update", "x-ms-copy-source": true },
  },
  since: "2019-02-02",
  params: {
    range: writeRange,
    ifMatch: header("x-ms-source-if-match-crc64", checksum),
    ifNoneMatch: header("x-ms-source-if-none-match-crc64", checksum),
    keepsLastWrite,
    keepsTrailingDots,
  },
  body: {
    kind: "source",
    lengthMax: () => rangeBytesMax,
    inlineBytesMax: inlineRangeBytesMax,
    style: "range-from-url",
    range: "x-ms-source-range",
    md5Always: false,
  },
  namedResources: [copySource],
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "renew",
  fileAccess: {
    ...writeAccess,
    range: ({ range }) => byteSpan(range.from, range.length),
  },
  effect: "writes",
  success: {
    status: 201,
    headers: ["x-ms-content-crc64", "x-ms-request-server-encrypted", "x-ms-file-last-write-time"],
  },
  reads: async (view, { scope, target, input }) => ({
    used: await usedBytes(view, scope.share),
    covered: await coveredBytes(view, target.content ?? emptyContent, input.range),
  }),
  decide: ({ target, scope, input, received, newETag, version, readResult }) => {
    const { range, ifMatch, ifNoneMatch } = input;
    const { content = emptyContent } = target;
    const writable = checkRange(target, range, content.length);
    if (!writable.ok) return writable;
    if (received.length !== range.length) {
      return invalidHeader("x-ms-source-range", String(received.length));
    }
    const sum = received.crc64 && encodeBase64(received.crc64);
    const differs = ifMatch !== undefined && encodeBase64(ifMatch) !== sum;
    const same = ifNoneMatch !== undefined && encodeBase64(ifNoneMatch) === sum;
    if (differs || same) return fail("SourceConditionNotMet");
    const written = writeBytes({
      share: scope.share,
      node: target,
      at: range.from,
      received,
      ...readResult,
      newETag,
      lastWrite: input.keepsLastWrite,
    });
    if (written === "disk-full") return quotaExceeded;
    const { next } = written;
    return {
      ...updateNode(scope, { target, ...written }),
      headers: {
        "x-ms-content-crc64": sum,
        "x-ms-request-server-encrypted": "true",
        "x-ms-file-last-write-time":
          version >= "2021-06-08" ? formatIso(next.lastWrite) : undefined,
      },
    };
  },
});
