import { noBody, noETag } from "../../operation/operation.ts";
import type { RecordView } from "../../operation/view.ts";
import { nodes } from "../records.ts";
import { fileOperation } from "../file-operation.ts";
import { removeAccess } from "../locks/file-access.ts";
import { deleteFailures, deleteFaultOrder, refuseDelete } from "../node/delete-rules.ts";
import { deleteNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

/** Deletes an empty directory; any other one is a fault.
 *  learn.microsoft.com/rest/api/storageservices/delete-directory */
export const deleteDirectory = fileOperation({
  name: "Delete Directory",
  ids: ["Directory_Delete"],
  route: { method: "DELETE", resource: "directory", query: { restype: "directory" } },
  since: "2015-02-21",
  params: { keepsTrailingDots },
  body: noBody,
  permission: { letters: "d", resourceType: "o" },
  target: "must-exist",
  ...noETag,
  fileAccess: removeAccess,
  effect: "writes",
  isDeletion: true,
  event: "DeleteDirectory",
  success: { status: 202, headers: [] },
  reads: (view, { scope, target }) => hasChildren(view, scope.share.id, target.id),
  decide: ({ target, scope, readResult }) => {
    const facts = { node: target, hasChildren: readResult };
    const fault = refuseDelete(facts, deleteFaultOrder.overRest);
    return fault === undefined ? deleteNode(scope, target) : deleteFailures[fault];
  },
});

/** Whether a directory has an entry. The scanned range is validated at commit, so a file that is
 *  created in it meanwhile is a conflict. */
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
