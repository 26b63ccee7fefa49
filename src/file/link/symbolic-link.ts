import { metadata } from "../../operation/common-params.ts";
import { invalidHeader, invalidQuery } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { checked, header, required, text } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { fileOperation } from "../file-operation.ts";
import { propertiesAccess } from "../locks/file-access.ts";
import { putNode } from "../shared/node-replies.ts";
import { keepsTrailingDots, smbProperties } from "../shared/smb-params.ts";
import { resolveSmbProperties, smbHeaderNames, smbHeaders } from "../shared/smb-properties.ts";

/** Limit of this server on the length of the link text, in UTF-16 code units. */
const linkUnitsMax = 4096;

/** The header is percent-encoded, because the link text may contain any character. */
const linkText = checked(required(header("x-ms-link-text", text)), (value) => {
  try {
    const decoded = decodeURIComponent(value);
    if (decoded.length <= linkUnitsMax) return ok(decoded);
  } catch {
    // A malformed encoding gets the fault of a text that is too long.
  }
  return invalidHeader("x-ms-link-text", value);
});

const query = { restype: "symboliclink" };

/** Creates a symbolic link; on NFS shares only.
 *  learn.microsoft.com/rest/api/storageservices/create-symbolic-link */
export const createSymbolicLink = fileOperation({
  name: "Create Symbolic Link",
  ids: ["File_CreateSymbolicLink"],
  route: { method: "PUT", resource: "file", query },
  since: "2025-05-05",
  params: {
    linkText,
    metadata,
    smb: smbProperties({ words: ["now"], requiredOnce: false }),
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "cw", resourceType: "o" },
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  fileAccess: "none",
  effect: "writes",
  success: { status: 201, headers: [...smbHeaderNames, "x-ms-request-server-encrypted"] },
  decide: ({ scope, input, newETag, newId, version }) => {
    const { share, parent, name } = scope;
    if (share.settings.protocol !== "NFS") return invalidQuery("restype", "symboliclink");
    const resolved = resolveSmbProperties({
      share,
      kind: "symlink",
      parent,
      input: input.smb,
      present: undefined,
      now: newETag,
    });
    if (!resolved.ok) return resolved;
    const next = {
      id: newId(),
      parent: parent.id,
      name,
      kind: "symlink" as const,
      etag: newETag,
      since: share.epoch,
      ...resolved.value.properties,
      metadata: input.metadata,
      linkText: input.linkText,
    };
    const placed = putNode(scope, { target: undefined, next });
    return {
      ...placed,
      effects: [...placed.effects, ...resolved.value.effects],
      headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
    };
  },
});

/** learn.microsoft.com/rest/api/storageservices/get-symbolic-link */
export const getSymbolicLink = fileOperation({
  name: "Get Symbolic Link",
  ids: ["File_GetSymbolicLink"],
  route: { method: "GET", resource: "file", query },
  since: "2025-05-05",
  params: { keepsTrailingDots },
  body: noBody,
  permission: { letters: "r", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "keep",
  fileAccess: propertiesAccess,
  effect: "reads",
  success: { status: 200, headers: ["x-ms-link-text"] },
  decide: ({ target }) =>
    target.linkText === undefined
      ? fail("ResourceTypeMismatch")
      : { headers: { "x-ms-link-text": encodeURIComponent(target.linkText) } },
});
