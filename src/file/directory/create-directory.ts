import { metadata } from "../../operation/common-params.ts";
import { noBody } from "../../operation/operation.ts";
import { fileOperation } from "../file-operation.ts";
import { putNode } from "../shared/node-replies.ts";
import { keepsTrailingDots, smbProperties } from "../shared/smb-params.ts";
import {
  readInheritedSddl,
  resolveSmbProperties,
  smbHeaderNames,
  smbHeaders,
} from "../shared/smb-properties.ts";

/** learn.microsoft.com/rest/api/storageservices/create-directory */
export const createDirectory = fileOperation({
  name: "Create Directory",
  ids: ["Directory_Create"],
  route: { method: "PUT", resource: "directory", query: { restype: "directory" } },
  since: "2015-02-21",
  params: {
    metadata,
    smb: smbProperties({ words: ["now", "none"], requiredOnce: true }),
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
  reads: (view, { scope, input }) => readInheritedSddl(view, scope, input.smb),
  decide: ({ scope, input, newETag, newId, version, readResult }) => {
    const { share, parent } = scope;
    const resolved = resolveSmbProperties({
      share,
      kind: "directory",
      parent,
      parentSddl: readResult,
      input: input.smb,
      present: undefined,
      now: newETag,
    });
    if (!resolved.ok) return resolved;
    const next = {
      id: newId(),
      parent: parent.id,
      name: scope.name,
      kind: "directory" as const,
      etag: newETag,
      since: share.epoch,
      ...resolved.value.properties,
      metadata: input.metadata,
    };
    const placed = putNode(scope, { target: undefined, next });
    return {
      ...placed,
      effects: [...placed.effects, ...resolved.value.effects],
      headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
    };
  },
});
