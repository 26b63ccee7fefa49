import { metadata } from "../../operation/common-params.ts";
import { noBody, propertiesRead, propertiesChange } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { fileOperation } from "../file-operation.ts";
import { propertiesAccess, writeAccess } from "../locks/file-access.ts";
import { readOnlyAttribute } from "../shared/attributes.ts";
import { updateNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

/** learn.microsoft.com/rest/api/storageservices/get-file-metadata */
export const getFileMetadata = fileOperation({
  ...propertiesRead,
  name: "Get File Metadata",
  ids: ["File_GetMetadata_GET", "File_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "file", query: { comp: "metadata" } },
  since: "2015-02-21",
  params: { keepsTrailingDots },
  permission: { letters: "r", resourceType: "o" },
  fileAccess: propertiesAccess,
  event: "none",
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** Replaces all metadata of the file.
 *  learn.microsoft.com/rest/api/storageservices/set-file-metadata */
export const setFileMetadata = fileOperation({
  ...propertiesChange,
  name: "Set File Metadata",
  ids: ["File_SetMetadata"],
  route: { method: "PUT", resource: "file", query: { comp: "metadata" } },
  since: "2015-02-21",
  params: { metadata, keepsTrailingDots },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  lease: "match-if-leased",
  fileAccess: writeAccess,
  event: "SetFileMetadata",
  success: { status: 200, headers: ["x-ms-request-server-encrypted"] },
  decide: ({ target, scope, input, newETag }) => {
    if ((target.attributes & readOnlyAttribute) !== 0) return fail("ReadOnlyAttribute");
    const next = { ...target, metadata: input.metadata, change: newETag };
    return {
      ...updateNode(scope, { target, next }),
      headers: { "x-ms-request-server-encrypted": "true" },
    };
  },
});
