import { noBody } from "../../operation/operation.ts";
import { deleteHardLink, firstHardLink, moveToHardLink } from "../link/hard-link-names.ts";
import { fileOperation } from "../file-operation.ts";
import { removeAccess } from "../locks/file-access.ts";
import { deleteFailures, deleteFaultOrder, refuseDelete } from "./delete-rules.ts";
import { deleteNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

/** Deletes at once: a REST deletion never leaves a delete-pending file. Of a file with several
 *  names (hard links) it deletes only the addressed one.
 *  learn.microsoft.com/rest/api/storageservices/delete-file2 */
export const deleteFile = fileOperation({
  name: "Delete File",
  ids: ["File_Delete"],
  route: { method: "DELETE", resource: "file" },
  since: "2015-02-21",
  params: { keepsTrailingDots },
  body: noBody,
  permission: { letters: "d", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  fileAccess: removeAccess,
  effect: "writes",
  isDeletion: true,
  event: "DeleteFile",
  success: { status: 202, headers: [] },
  reads: (view, { scope, target }) => firstHardLink(view, scope.share.id, target),
  decide: ({ target, scope, readResult: firstLink }) => {
    // A file has no children.
    const fault = refuseDelete({ node: target, hasChildren: false }, deleteFaultOrder.overRest);
    if (fault !== undefined) return deleteFailures[fault];
    if (scope.hardLink !== undefined)
      return { effects: deleteHardLink(scope, target, scope.hardLink) };
    if (firstLink !== undefined) return { effects: moveToHardLink(scope, target, firstLink) };
    return deleteNode(scope, target);
  },
});
