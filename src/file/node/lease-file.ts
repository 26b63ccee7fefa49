import { leaseAction } from "../../operation/common-params.ts";
import { noBody, type Route } from "../../operation/operation.ts";
import { fileOperation } from "../file-operation.ts";
import { leaseAccess } from "../locks/file-access.ts";
import { leaseReply, leaseReplyHeaders } from "../../protocol/lease-reply.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

/** File leases are always infinite. learn.microsoft.com/rest/api/storageservices/lease-file */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  return fileOperation({
    name: "Lease File",
    ids,
    route: { method: "PUT", resource: "file", query: { comp: "lease" }, headers },
    since: "2019-07-07",
    params: { action: leaseAction("file"), keepsTrailingDots },
    body: noBody,
    permission: { letters, resourceType: "o" },
    target: "must-exist",
    conditions: "none",
    lease: "action",
    etag: "keep",
    fileAccess: {
      ...leaseAccess,
      // Only `acquire` can conflict with open handles: the other actions do not exclude more
      // clients.
      appliesTo: ({ action }) => action.action === "acquire",
    },
    effect: "writes",
    success: { status: 200, headers: leaseReplyHeaders },
    decide: ({ target, input, now, newGuid }) =>
      leaseReply({ target, action: input.action, kind: "file", now, newGuid }),
  });
}

export const leaseFile = declareLease(
  ["File_AcquireLease", "File_ChangeLease", "File_ReleaseLease"],
  "w",
);

/** Breaking a lease is declared separately, because the permission to write or the one to delete
 *  suffices; the other actions need the one to write. */
export const breakFileLease = declareLease(["File_BreakLease"], "wd", {
  "x-ms-lease-action": "break",
});
