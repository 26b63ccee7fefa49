import { metadata } from "../../operation/common-params.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { checked, header, integer, required } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { empty } from "../../content/plan.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { fileOperation, wholeFile } from "../file-operation.ts";
import { replaceAccess } from "../locks/file-access.ts";
import { isReadOnly } from "../shared/attributes.ts";
import { defaultContentType, fileHeaders } from "../shared/http-headers.ts";
import { fileBytesMax } from "../shared/limits.ts";
import { putNode } from "../shared/node-replies.ts";
import { keepsTrailingDots, smbProperties } from "../shared/smb-params.ts";
import {
  readInheritedSddl,
  resolveSmbProperties,
  smbHeaderNames,
  smbHeaders,
} from "../shared/smb-properties.ts";

const length = checked(
  required(header("x-ms-content-length", integer(0, Number.MAX_SAFE_INTEGER))),
  (value) => {
    const fits = value <= fileBytesMax;
    return fits ? ok(value) : invalidHeader("x-ms-content-length", String(value));
  },
);

/** Creates a file of zeros, or replaces an existing file.
 *  learn.microsoft.com/rest/api/storageservices/create-file */
export const createFile = fileOperation({
  name: "Create File",
  ids: ["File_Create"],
  route: {
    method: "PUT",
    resource: "file",
    headers: { "x-ms-type": "file", "x-ms-copy-source": false },
  },
  since: "2015-02-21",
  params: {
    length,
    headers: fileHeaders,
    metadata,
    smb: smbProperties({ words: ["now", "none"], requiredOnce: true }),
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  target: "may-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "renew",
  fileAccess: {
    ...replaceAccess,
    range: wholeFile,
  },
  effect: "writes",
  success: { status: 201, headers: [...smbHeaderNames, "x-ms-request-server-encrypted"] },
  reads: (view, { scope, input }) => readInheritedSddl(view, scope, input.smb),
  decide: ({ target, scope, input, newETag, newId, version, readResult }) => {
    const { share, parent } = scope;
    if (target !== undefined && isReadOnly(target)) return fail("ReadOnlyAttribute");
    const resolved = resolveSmbProperties({
      share,
      kind: "file",
      parent,
      parentSddl: readResult,
      input: input.smb,
      present: undefined,
      now: newETag,
    });
    if (!resolved.ok) return resolved;
    const { contentType = defaultContentType, ...others } = input.headers ?? {};
    const next = {
      id: target?.id ?? newId(),
      parent: parent.id,
      name: scope.name,
      kind: "file" as const,
      etag: newETag,
      since: share.epoch,
      ...resolved.value.properties,
      metadata: input.metadata,
      headers: { ...others, contentType },
      content: emptyContent,
      lease: target?.lease,
      allocated: 0,
    };
    const placed = putNode(scope, { target, next, content: empty(input.length) });
    return {
      ...placed,
      effects: [...placed.effects, ...resolved.value.effects],
      headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
    };
  },
});
