import { emptyContent } from "../../content/content-ref.ts";
import { noBody, propertiesChange } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { writeAccess } from "../locks/file-access.ts";
import { coveredBytes, cutSpan, resizeContent } from "../range/write-rules.ts";
import type { NodeRecord } from "../records.ts";
import { isReadOnly } from "../shared/attributes.ts";
import { fileHeaders } from "../shared/http-headers.ts";
import { fitsQuota, quotaExceeded, readUsed } from "../shared/quota.ts";
import { updateNode } from "../shared/node-replies.ts";
import { fileLength } from "../shared/range-params.ts";
import { keepsTrailingDots, permissionActions, smbProperties } from "../shared/smb-params.ts";
import {
  readInheritedSddl,
  resolveSmbProperties,
  smbHeaderNames,
  smbHeaders,
} from "../shared/smb-properties.ts";

/** How much longer a request makes the file; 0 or less if it does not. */
function grownBytes({ content = emptyContent }: NodeRecord, wanted = content.length): number {
  return wanted - content.length;
}

/** The HTTP headers of the request replace all of the file's. Only a request that has none of them
 *  and a length leaves them as they are (recorded). A length truncates or extends the file.
 *  learn.microsoft.com/rest/api/storageservices/set-file-properties */
export const setFileProperties = fileOperation({
  ...propertiesChange,
  name: "Set File Properties",
  ids: ["File_SetHTTPHeaders"],
  route: { method: "PUT", resource: "file", query: { comp: "properties" } },
  since: "2015-02-21",
  params: {
    length: fileLength,
    headers: fileHeaders,
    smb: smbProperties({ words: ["now", "preserve", "none"], requiredOnce: true }),
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "w", resourceType: "o", furtherActions: permissionActions },
  lease: "match-if-leased",
  fileAccess: {
    ...writeAccess,
    range: ({ length: wanted }, { content = emptyContent }) =>
      wanted === undefined ? undefined : byteSpan(wanted, content.length - wanted),
  },
  event: "SetFileProperties",
  success: { status: 200, headers: [...smbHeaderNames, "x-ms-request-server-encrypted"] },
  reads: async (view, { target, scope, input }) => {
    const { content = emptyContent } = target;
    return {
      used: await readUsed(view, scope.share, grownBytes(target, input.length)),
      cutOff: await coveredBytes(view, content, cutSpan(target, input.length ?? content.length)),
      inherited: await readInheritedSddl(view, scope, input.smb, target),
    };
  },
  decide: ({ target, scope, input, newETag, version, readResult }) => {
    const { share, parent } = scope;
    // A read-only file can be changed only by a request that removes the attribute, or that sets
    // nothing but SMB properties.
    const staysReadOnly =
      typeof input.smb.attributes !== "number" || isReadOnly({ attributes: input.smb.attributes });
    const changesMore = input.length !== undefined || input.headers !== undefined;
    if (isReadOnly(target) && staysReadOnly && changesMore) {
      return fail("ReadOnlyAttribute");
    }
    const resolved = resolveSmbProperties({
      share,
      kind: target.kind,
      parent,
      parentSddl: readResult.inherited,
      input: input.smb,
      present: target,
      now: newETag,
    });
    if (!resolved.ok) return resolved;
    const grown = grownBytes(target, input.length);
    if (!fitsQuota(share, readResult.used, grown)) return quotaExceeded;
    const { content = emptyContent, headers, allocated = 0 } = target;
    const wanted = input.length ?? content.length;
    const resized = resizeContent(target, wanted);
    const next = {
      ...target,
      ...resolved.value.properties,
      headers: input.headers ?? (input.length === undefined ? {} : headers),
      allocated: allocated - readResult.cutOff,
      counted: wanted,
    };
    const plan = resized === undefined ? {} : { content: resized };
    const revised = updateNode(scope, { target, next, ...plan });
    return {
      ...revised,
      effects: [...revised.effects, ...resolved.value.effects],
      headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
    };
  },
});
