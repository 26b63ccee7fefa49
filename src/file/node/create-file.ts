import { mapAwaitable } from "../../base/awaitable.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { metadata } from "../../operation/common-params.ts";
import { header, oneOf, required } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { startingWith, emptyContent, inlinePartBytesMax } from "../../content/content-ref.ts";
import { type NodeRecord, nodeBytes, shareBytes } from "../records.ts";
import { fileOperation, wholeFile } from "../file-operation.ts";
import { replaceAccess } from "../locks/file-access.ts";
import { isReadOnly, readCreationSddl } from "../shared/smb-properties.ts";
import { defaultContentType, fileHeaders } from "../shared/http-headers.ts";
import { rangeBytesMax, fitsQuota, quotaExceeded, readUsed } from "../shared/limits.ts";
import { createNode } from "../shared/create-node.ts";
import { keepsTrailingDots } from "../file-address.ts";
import { smbProperties } from "../shared/smb-params.ts";
import { fileLength } from "../shared/range-params.ts";

/** The first x-ms-version in which the body of Create File becomes the content of the file. */
const contentSince = "2026-02-06";

/** Creates a file, or replaces an existing one. The body, if there is one, becomes the start of the
 *  content; the rest of the file is zeros. Both happen in one transaction, as one short open.
 *  learn.microsoft.com/rest/api/storageservices/create-file */
export const createFile = fileOperation({
  name: "Create File",
  ids: ["File_Create"],
  route: {
    method: "PUT",
    resource: "file",
    headers: { "x-ms-type": "file", "x-ms-copy-source": false },
  },
  params: {
    length: required(fileLength),
    headers: fileHeaders,
    metadata,
    smb: smbProperties({ words: ["now", "none"], requiredByOldVersions: true, creates: true }),
    keepsTrailingDots,
    // Links and directories have operations of their own; other types cannot be created.
    type: header("x-ms-file-file-type", oneOf("Regular")),
  },
  body: {
    kind: "content",
    lengthMax: () => rangeBytesMax,
    inlineBytesMax: inlinePartBytesMax,
    md5Always: true,
    nonEmpty: false,
    optional: true,
    since: contentSince,
  },
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  target: "may-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "renew",
  fileAccess: {
    ...replaceAccess,
    range: wholeFile,
  },
  event: "CreateFile",
  status: 201,
  freedBytes: (_view, { target }) => (target === undefined ? 0 : nodeBytes(target)),
  checkBodyLength: async (view, { scope, target, input }, bodyBytes) => {
    if (bodyBytes > input.length) return fail("InvalidRange");
    const grown = grownBytes(target, input.length);
    const used = await readUsed(view, scope.share, grown);
    return fitsQuota(scope.share, used, grown) ? ok(undefined) : quotaExceeded;
  },
  reads: (view, { scope, target, input }) => {
    const grown = grownBytes(target, input.length);
    return mapAwaitable(readCreationSddl(view, scope, input.smb), (sddl) =>
      mapAwaitable(readUsed(view, scope.share, grown), (used) => ({ sddl, used })),
    );
  },
  decide: (context) => {
    const { target, scope, input, received, readResult } = context;
    if (target !== undefined && isReadOnly(target)) return fail("ReadOnlyAttribute");
    if (received.length > input.length) return fail("InvalidRange");
    const grown = grownBytes(target, input.length);
    if (!fitsQuota(scope.share, readResult.used, grown)) return quotaExceeded;
    const { contentType = defaultContentType, ...others } = input.headers ?? {};
    const created = createNode(context, {
      kind: "file",
      permission: { ...readResult.sddl, creates: true },
      fields: {
        headers: { ...others, contentType },
        content: emptyContent,
        lease: target?.lease,
        allocated: received.length,
        counted: input.length,
      },
      content: startingWith(received, input.length),
    });
    if ("fault" in created) return created;
    const md5 = received.md5 && encodeBase64(received.md5);
    return { ...created, headers: [...created.headers, { "Content-MD5": md5 }] };
  },
});

/** By how many bytes the new file uses more of the quota of the share than the file that it
 *  replaces; may be negative. */
function grownBytes(target: NodeRecord | undefined, wanted: number): number {
  return wanted - (target === undefined ? 0 : shareBytes(target));
}
