import { metadata } from "../../operation/common-params.ts";
import { noBody, propertiesChange } from "../../operation/operation.ts";
import { fileOperation } from "../file-operation.ts";
import { presenceAccess, writeAccess } from "../locks/file-access.ts";
import { updateNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

const query = { restype: "directory", comp: "metadata" };

/** learn.microsoft.com/rest/api/storageservices/get-directory-metadata */
export const getDirectoryMetadata = fileOperation({
  name: "Get Directory Metadata",
  ids: ["Directory_GetMetadata_GET", "Directory_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "directory", query },
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
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** Replaces all metadata of the directory.
 *  learn.microsoft.com/rest/api/storageservices/set-directory-metadata */
export const setDirectoryMetadata = fileOperation({
  ...propertiesChange,
  name: "Set Directory Metadata",
  ids: ["Directory_SetMetadata"],
  route: { method: "PUT", resource: "directory", query },
  since: "2015-02-21",
  params: { metadata, keepsTrailingDots },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  lease: "none",
  fileAccess: writeAccess,
  event: "SetDirectoryMetadata",
  success: { status: 200, headers: ["x-ms-request-server-encrypted"] },
  decide: ({ target, scope, input, newETag }) => ({
    ...updateNode(scope, {
      target,
      next: { ...target, metadata: input.metadata, change: newETag },
    }),
    headers: { "x-ms-request-server-encrypted": "true" },
  }),
});
