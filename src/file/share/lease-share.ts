import { leaseAction } from "../../operation/common-params.ts";
import { put } from "../../operation/effects.ts";
import { noBody, type Route } from "../../operation/operation.ts";
import { shareSnapshots, type ShareSnapshotRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { leaseReply, leaseReplyHeaders } from "../../protocol/lease-reply.ts";

/** Leases a share or one of its snapshots.
 *  learn.microsoft.com/rest/api/storageservices/lease-share */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { restype: "share", comp: "lease" };
  return operation({
    name: "Lease Share",
    ids,
    route: { method: "PUT", resource: "share", query, headers },
    since: "2020-02-10",
    params: { action: leaseAction("share") },
    body: noBody,
    permission: { letters, resourceType: "c", sas: "account-only" },
    target: "must-exist",
    conditions: "none",
    lease: "action",
    etag: "keep",
    effect: "writes",
    acceptsSnapshot: true,
    success: { status: 200, headers: leaseReplyHeaders },
    decide: ({ target, scope, address, input, now, newGuid }) => {
      const reply = leaseReply({ target, action: input.action, kind: "share", now, newGuid });
      const { snapshot } = address;
      if ("fault" in reply || snapshot === undefined || scope.current === undefined) return reply;
      const { status, headers: replyHeaders, put: next } = reply;
      const key = { share: scope.current.id, at: snapshot };
      const effects = [put(shareSnapshots, key, next as ShareSnapshotRecord)];
      return { status, headers: replyHeaders, effects };
    },
  });
}

export const leaseShare = declareLease(
  ["Share_AcquireLease", "Share_RenewLease", "Share_ChangeLease", "Share_ReleaseLease"],
  "w",
);

/** Breaking a lease is a separate declaration, because the permission to delete the share also
 *  permits it. */
export const breakShareLease = declareLease(["Share_BreakLease"], "wd", {
  "x-ms-lease-action": "break",
});
