import { noBody, propertiesChange } from "../../operation/operation.ts";
import { rootId } from "../records.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess, writeAccess } from "../locks/file-access.ts";
import { updateNode } from "../shared/node-replies.ts";
import { keepsTrailingDots, permissionActions, smbProperties } from "../shared/smb-params.ts";
import {
  readInheritedSddl,
  resolveSmbProperties,
  smbHeaderNames,
  smbHeaders,
} from "../shared/smb-properties.ts";

/** The directory may be the root of a share.
 *  learn.microsoft.com/rest/api/storageservices/get-directory-properties */
export const getDirectoryProperties = fileOperation({
  name: "Get Directory Properties",
  ids: ["Directory_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "directory", query: { restype: "directory" } },
  since: "2015-02-21",
  params: { keepsTrailingDots },
  body: noBody,
  permission: { letters: "r", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "keep",
  fileAccess: presenceAccess,
  effect: "reads",
  event: "none",
  success: { status: 200, headers: [...smbHeaderNames, "x-ms-server-encrypted"] },
  decide: ({ target, version }) => ({
    metadata: target.metadata,
    headers: {
      ...smbHeaders(target, version),
      // Recorded: the service reports the root of a share as not encrypted.
      "x-ms-server-encrypted": String(target.id !== rootId),
    },
  }),
});

/** Properties that the request leaves out do not change.
 *  learn.microsoft.com/rest/api/storageservices/set-directory-properties */
export const setDirectoryProperties = fileOperation({
  ...propertiesChange,
  name: "Set Directory Properties",
  ids: ["Directory_SetProperties"],
  route: {
    method: "PUT",
    resource: "directory",
    query: { restype: "directory", comp: "properties" },
  },
  since: "2019-02-02",
  params: {
    smb: smbProperties({ words: ["now", "preserve", "none"], requiredOnce: true }),
    keepsTrailingDots,
  },
  body: noBody,
  permission: { letters: "w", resourceType: "o", furtherActions: permissionActions },
  lease: "none",
  fileAccess: writeAccess,
  event: "SetDirectoryProperties",
  success: { status: 200, headers: [...smbHeaderNames, "x-ms-request-server-encrypted"] },
  reads: (view, { scope, input, target }) => readInheritedSddl(view, scope, input.smb, target),
  decide: ({ target, scope, input, newETag, version, readResult }) => {
    const { share, parent } = scope;
    const resolved = resolveSmbProperties({
      share,
      kind: "directory",
      parent,
      parentSddl: readResult,
      input: input.smb,
      present: target,
      now: newETag,
    });
    if (!resolved.ok) return resolved;
    const next = { ...target, ...resolved.value.properties };
    const revised = updateNode(scope, { target, next });
    return {
      ...revised,
      effects: [...revised.effects, ...resolved.value.effects],
      headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
    };
  },
});
