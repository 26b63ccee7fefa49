import { encodeBase64 } from "../../base/base64.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { formatIso } from "../../base/dates.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
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
import { clearBytes, writeBytes } from "./write-rules.ts";

/** Writes bytes inside the file; the file does not grow.
 *  learn.microsoft.com/rest/api/storageservices/put-range */
export const putRange = fileOperation({
  name: "Put Range",
  ids: ["File_UploadRange"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "range" },
    headers: { "x-ms-write": "update", "x-ms-copy-source": false },
  },
  since: "2015-02-21",
  params: { range: writeRange, keepsLastWrite, keepsTrailingDots },
  body: {
    kind: "content",
    lengthMax: () => rangeBytesMax,
    inlineBytesMax: inlineRangeBytesMax,
    md5Always: true,
    nonEmpty: true,
  },
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
    headers: ["Content-MD5", "x-ms-request-server-encrypted", "x-ms-file-last-write-time"],
  },
  reads: async (view, { scope, target, input }) => ({
    used: await usedBytes(view, scope.share),
    covered: await coveredBytes(view, target.content ?? emptyContent, input.range),
  }),
  decide: ({ target, scope, input, received, newETag, version, readResult }) => {
    const { range } = input;
    if (received.length !== range.length) {
      return invalidHeader("Content-Length", String(received.length));
    }
    const { content = emptyContent } = target;
    const writable = checkRange(target, range, content.length);
    if (!writable.ok) return writable;
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
        "Content-MD5": received.md5 && encodeBase64(received.md5),
        "x-ms-request-server-encrypted": "true",
        "x-ms-file-last-write-time":
          version >= "2021-06-08" ? formatIso(next.lastWrite) : undefined,
      },
    };
  },
});

/** Put Range with `x-ms-write: clear`: frees whole sectors and writes zeros into partial ones. */
export const clearRange = fileOperation({
  name: "Put Range",
  ids: ["File_UploadRange"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "range" },
    headers: { "x-ms-write": "clear" },
  },
  since: "2015-02-21",
  params: { range: writeRange, keepsLastWrite, keepsTrailingDots },
  body: noBody,
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
  success: { status: 201, headers: ["x-ms-file-last-write-time"] },
  reads: async (view, { target, input }) =>
    coveredBytes(view, target.content ?? emptyContent, input.range),
  decide: ({ target, scope, input, newETag, version, readResult: covered }) => {
    const { range } = input;
    const { content = emptyContent } = target;
    const writable = checkRange(target, range, content.length);
    if (!writable.ok) return writable;
    if (range.length <= 0) return fail("InvalidRange");
    const { next, content: cleared } = clearBytes({
      share: scope.share,
      node: target,
      span: range,
      covered,
      newETag,
      lastWrite: input.keepsLastWrite,
    });
    return {
      ...updateNode(scope, { target, next, content: cleared }),
      headers: {
        "x-ms-file-last-write-time":
          version >= "2021-06-08" ? formatIso(next.lastWrite) : undefined,
      },
    };
  },
});
