import { emptyContent } from "../../content/content-ref.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { checked, header, integer } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { writeAccess } from "../locks/file-access.ts";
import { coveredBytes } from "../range/covered.ts";
import { cutSpan, resizeContent } from "../range/write-rules.ts";
import { isReadOnly } from "../shared/attributes.ts";
import { fileHeaders } from "../shared/http-headers.ts";
import { fileBytesMax } from "../shared/limits.ts";
import { updateNode } from "../shared/node-replies.ts";
import { keepsTrailingDots, permissionActions, smbProperties } from "../shared/smb-params.ts";
import {
  readInheritedSddl,
  resolveSmbProperties,
  smbHeaderNames,
  smbHeaders,
} from "../shared/smb-properties.ts";

const length = checked(
  header("x-ms-content-length", integer(0, Number.MAX_SAFE_INTEGER)),
  (value) => {
    const fits = value === undefined || value <= fileBytesMax;
    return fits ? ok(value) : invalidHeader("x-ms-content-length", String(value));
  },
);

/** If the request has any of the HTTP headers, it replaces all of them. A length truncates or
 *  extends the file. learn.microsoft.com/rest/api/storageservices/set-file-properties */
export const setFileProperties = fileOperation({
  name: "Set File Properties",
  ids: ["File_SetHTTPHeaders"],
  route: { method: "PUT", resource: "file", query: { comp: "properties" } },
  since: "2015-02-21",
  params: {
    length,
    headers: fileHeaders,
    smb: smbProperties({ words: ["now", "preserve", "none"], requiredOnce: true }),
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "w", resourceType: "o", furtherActions: permissionActions },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "renew",
  fileAccess: {
    ...writeAccess,
    range: ({ length: wanted }, { content = emptyContent }) =>
      wanted === undefined ? undefined : byteSpan(wanted, content.length - wanted),
  },
  effect: "writes",
  success: { status: 200, headers: [...smbHeaderNames, "x-ms-request-server-encrypted"] },
  reads: async (view, { target, scope, input }) => {
    const { content = emptyContent } = target;
    return {
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
    const { content = emptyContent, headers, allocated = 0 } = target;
    const resized = resizeContent(target, input.length ?? content.length);
    const next = {
      ...target,
      ...resolved.value.properties,
      headers: input.headers ?? headers,
      allocated: allocated - readResult.cutOff,
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
