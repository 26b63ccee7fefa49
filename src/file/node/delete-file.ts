import { fail, type Failure } from "../../protocol/result.ts";
import { rootId, type NodeRecord } from "../records.ts";
import { isReadOnly } from "../shared/smb-properties.ts";
import { deleteHardLink, firstHardLink, moveToHardLink } from "../link/hard-link-names.ts";
import { fileOperation } from "../file-operation.ts";
import { removeAccess } from "../locks/file-access.ts";
import { deleteNode } from "../shared/node-replies.ts";

/** Delete File, and the rules that it shares with Delete Directory and SMB deletions. */

/** The properties of a file or directory that can prevent a deletion. */
interface DeleteFacts {
  readonly node: NodeRecord;
  /** Whether this is a directory with entries. */
  readonly hasChildren: boolean;
}

export type DeleteFault = "root" | "read-only" | "not-empty";

const isFaulty: Readonly<Record<DeleteFault, (facts: DeleteFacts) => boolean>> = {
  root: ({ node }) => node.id === rootId,
  "read-only": ({ node }) => isReadOnly(node),
  "not-empty": ({ hasChildren }) => hasChildren,
};

/** The order in which each protocol checks for the reasons that prevent a deletion: the first that
 *  applies is reported. */
export const deleteFaultOrder = {
  overRest: ["root", "not-empty", "read-only"],
  // The order of the checks in [MS-FSA] 2.1.5.15.3.
  overSmb: ["root", "read-only", "not-empty"],
} as const satisfies Readonly<Record<string, readonly DeleteFault[]>>;

/** Why a file or directory may not be deleted or made delete-pending; undefined if it may. Handles
 *  and leases are checked before, as for every operation. */
export function refuseDelete(
  facts: DeleteFacts,
  order: readonly DeleteFault[],
): DeleteFault | undefined {
  return order.find((fault) => isFaulty[fault](facts));
}

/** The fault of REST for each reason that prevents a deletion. */
export const deleteFailures: Readonly<Record<DeleteFault, Failure>> = {
  root: fail("InvalidResourceName"),
  "read-only": fail("ReadOnlyAttribute"),
  "not-empty": fail("DirectoryNotEmpty"),
};

/** Deletes at once: a REST deletion never leaves a delete-pending file. Of a file with several
 *  names (hard links) it deletes only the addressed one.
 *  learn.microsoft.com/rest/api/storageservices/delete-file2 */
export const deleteFile = fileOperation({
  name: "Delete File",
  ids: ["File_Delete"],
  route: { method: "DELETE", resource: "file" },
  permission: { letters: "d", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  fileAccess: removeAccess,
  isDeletion: true,
  event: "DeleteFile",
  status: 202,
  reads: (view, { scope, target }) => firstHardLink(view, scope.share.id, target),
  decide: ({ target, scope, readResult: firstLink }) => {
    const fault = refuseDelete({ node: target, hasChildren: false }, deleteFaultOrder.overRest);
    if (fault !== undefined) return deleteFailures[fault];
    if (scope.hardLink !== undefined)
      return { effects: deleteHardLink(scope, target, scope.hardLink) };
    if (firstLink !== undefined) return { effects: moveToHardLink(scope, target, firstLink) };
    return deleteNode(scope, target);
  },
});
