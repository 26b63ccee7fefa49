import { leaseAction } from "../../operation/common-params.ts";
import { noBody, type Route } from "../../operation/operation.ts";
import { leaseReply, leaseReplyHeaders } from "../../protocol/lease-reply.ts";
import { operation } from "../resources.ts";

/** Declares lease actions. Break Lease is a declaration of its own because it needs another
 *  permission. learn.microsoft.com/rest/api/storageservices/lease-container */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { restype: "container", comp: "lease" };
  return operation({
    name: "Lease Container",
    ids,
    route: { method: "PUT", resource: "container", query, headers },
    since: "2012-02-12",
    params: { action: leaseAction("container") },
    body: noBody,
    permission: { letters, resourceType: "c", sas: "account-only" },
    target: "must-exist",
    conditions: "write",
    lease: "action",
    etag: "keep",
    effect: "writes",
    success: { status: 200, headers: leaseReplyHeaders },
    decide: ({ target, input, now, newGuid }) =>
      leaseReply({ target, action: input.action, kind: "container", now, newGuid }),
  });
}

export const leaseContainer = declareLease(
  [
    "Container_AcquireLease",
    "Container_RenewLease",
    "Container_ChangeLease",
    "Container_ReleaseLease",
  ],
  "w",
);

/** Break Lease, for which permission to write or to delete suffices. */
export const breakContainerLease = declareLease(["Container_BreakLease"], "wd", {
  "x-ms-lease-action": "break",
});
