import { noBody } from "../../operation/operation.ts";
import { dropName, nextName, passOn } from "../link/link-names.ts";
import { fileOperation } from "../file-operation.ts";
import { removeAccess } from "../locks/file-access.ts";
import { deleteFailures, deleteFaultOrder, refuseDelete } from "./delete-rules.ts";
import { deleteNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

/** At once: nothing here leaves a file waiting to go away.
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
  removes: true,
  success: { status: 202, headers: [] },
  reads: (view, { scope, target }) => nextName(view, scope.share.id, target),
  decide: ({ target, scope, readResult: heir }) => {
    const fault = refuseDelete({ node: target, hasChildren: false }, deleteFaultOrder.rest);
    if (fault !== undefined) return deleteFailures[fault];
    if (scope.alias !== undefined) return { effects: dropName(scope, target, scope.alias) };
    if (heir !== undefined) return { effects: passOn(scope, target, heir) };
    return deleteNode(scope, target);
  },
});
