import { metadata } from "../../operation/common-params.ts";
import { invalidHeader, invalidQuery } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { checked, header, required, text } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { fileOperation } from "../file-operation.ts";
import { propertiesAccess } from "../locks/file-access.ts";
import { createdHeaderNames, createNode, nodeCreation } from "../shared/create-node.ts";
import { keepsTrailingDots, smbProperties } from "../shared/smb-params.ts";

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
  ...nodeCreation,
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
  event: "CreateSymbolicLink",
  success: { status: 201, headers: createdHeaderNames },
  decide: (context) => {
    const { scope, input } = context;
    if (scope.share.settings.protocol !== "NFS") return invalidQuery("restype", "symboliclink");
    const fields = { linkText: input.linkText };
    return createNode(context, { kind: "symlink", permission: {}, fields });
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
  event: "none",
  success: { status: 200, headers: ["x-ms-link-text"] },
  decide: ({ target }) =>
    target.linkText === undefined
      ? fail("ResourceTypeMismatch")
      : { headers: { "x-ms-link-text": encodeURIComponent(target.linkText) } },
});
