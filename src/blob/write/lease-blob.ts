import { leaseAction } from "../../operation/common-params.ts";
import { noBody, type Route } from "../../operation/operation.ts";
import { leaseReply, leaseReplyHeaders } from "../../protocol/lease-reply.ts";
import { operation } from "../resources.ts";

/** Declares lease actions. Break Lease is a declaration of its own because it needs another
 *  permission. learn.microsoft.com/rest/api/storageservices/lease-blob */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { comp: "lease" };
  return operation({
    name: "Lease Blob",
    ids,
    route: { method: "PUT", resource: "blob", query, headers },
    since: "2009-09-19",
    params: { action: leaseAction("blob") },
    body: noBody,
    permission: { letters, resourceType: "o" },
    target: "must-exist",
    conditions: "write",
    lease: "action",
    etag: "keep",
    effect: "writes",
    policy: { content: "none", generations: "current", pendingCopy: "reject", clientKey: "none" },
    success: { status: 200, headers: leaseReplyHeaders },
    decide: ({ target, input, now, newGuid }) =>
      leaseReply({ target, action: input.action, kind: "blob", now, newGuid }),
  });
}

export const leaseBlob = declareLease(
  ["Blob_AcquireLease", "Blob_RenewLease", "Blob_ChangeLease", "Blob_ReleaseLease"],
  "w",
);

/** Break Lease, for which permission to write or to delete suffices. */
export const breakBlobLease = declareLease(["Blob_BreakLease"], "wd", {
  "x-ms-lease-action": "break",
});
