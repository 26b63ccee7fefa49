import { metadata } from "../../operation/common-params.ts";
import { fileOperation } from "../file-operation.ts";
import { changeProperties, createNode, nodeCreation } from "../shared/create-node.ts";
import { smbProperties, permissionActions } from "../shared/smb-params.ts";
import { readCreationSddl, readInheritedSddl, smbHeaders } from "../shared/smb-properties.ts";
import { propertiesChange, noETag, propertiesRead } from "../../operation/operation.ts";
import { rootId, nodes } from "../records.ts";
import { presenceAccess, writeAccess, removeAccess } from "../locks/file-access.ts";
import { deleteNode } from "../shared/node-replies.ts";
import type { RecordView } from "../../operation/view.ts";
import { deleteFailures, deleteFaultOrder, refuseDelete } from "../node/delete-file.ts";

/** The REST operations on directories: create, get and set properties, delete. Listing is in
 *  `list-directory.ts`, metadata in `file/node/metadata.ts`. */

/** Creates an empty directory. learn.microsoft.com/rest/api/storageservices/create-directory */
export const createDirectory = fileOperation({
  ...nodeCreation,
  name: "Create Directory",
  ids: ["Directory_Create"],
  route: { method: "PUT", resource: "directory", query: { restype: "directory" } },
  params: {
    metadata,
    smb: smbProperties({ words: ["now", "none"], requiredByOldVersions: true, creates: true }),
  },
  event: "CreateDirectory",
  status: 201,
  reads: (view, { scope, input }) => readCreationSddl(view, scope, input.smb),
  decide: (context) =>
    createNode(context, {
      kind: "directory",
      permission: { ...context.readResult, creates: true },
    }),
});

/** Returns properties and metadata of a directory, which may be the root of a share.
 *  learn.microsoft.com/rest/api/storageservices/get-directory-properties */
export const getDirectoryProperties = fileOperation({
  name: "Get Directory Properties",
  ids: ["Directory_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "directory", query: { restype: "directory" } },
  permission: { letters: "r", resourceType: "o" },
  ...propertiesRead,
  lease: "none",
  fileAccess: presenceAccess,
  event: "none",
  decide: ({ target, version }) => ({
    metadata: target.metadata,
    headers: {
      ...smbHeaders(target, version),
      // Recorded from Azure: the root of a share is reported as not encrypted.
      "x-ms-server-encrypted": String(target.id !== rootId),
    },
  }),
});

/** Sets SMB properties of a directory; those that the request leaves out do not change.
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
    smb: smbProperties({ words: ["now", "preserve", "none"], requiredByOldVersions: true }),
  },
  permission: { letters: "w", resourceType: "o", furtherActions: permissionActions },
  lease: "none",
  fileAccess: writeAccess,
  event: "SetDirectoryProperties",
  reads: (view, { scope, input, target }) => readInheritedSddl(view, scope, input.smb, target),
  decide: (context) => changeProperties(context, { parentSddl: context.readResult }),
});

/** Deletes an empty directory; any other one is a fault.
 *  learn.microsoft.com/rest/api/storageservices/delete-directory */
export const deleteDirectory = fileOperation({
  name: "Delete Directory",
  ids: ["Directory_Delete"],
  route: { method: "DELETE", resource: "directory", query: { restype: "directory" } },
  permission: { letters: "d", resourceType: "o" },
  target: "must-exist",
  ...noETag,
  fileAccess: removeAccess,
  isDeletion: true,
  event: "DeleteDirectory",
  status: 202,
  reads: (view, { scope, target }) => hasChildren(view, scope.share.id, target.id),
  decide: ({ target, scope, readResult }) => {
    const facts = { node: target, hasChildren: readResult };
    const fault = refuseDelete(facts, deleteFaultOrder.overRest);
    return fault === undefined ? deleteNode(scope, target) : deleteFailures[fault];
  },
});

/** Whether a directory has an entry, for deletions and renames. The scanned range is validated at
 *  commit: if another request creates a file in the directory meanwhile, the transaction is a
 *  conflict and runs again. */
export async function hasChildren(
  view: RecordView,
  share: bigint,
  directory: bigint,
): Promise<boolean> {
  for await (const [first] of view.scan(nodes, { ...nodes.range([share, directory]), limit: 1 })) {
    if (first !== undefined) return true;
  }
  return false;
}
