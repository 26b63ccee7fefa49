import { breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import { put } from "../../operation/effects.ts";
import type { Route } from "../../operation/operation.ts";
import { shareSnapshots, type ShareSnapshotRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { leaseReply } from "../../protocol/lease-action.ts";

/** Leases a share or one of its snapshots.
 *  learn.microsoft.com/rest/api/storageservices/lease-share */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { restype: "share", comp: "lease" };
  return operation({
    ...leaseChange,
    name: "Lease Share",
    ids,
    route: { method: "PUT", resource: "share", query, headers },
    since: "2020-02-10",
    params: { action: leaseAction("share") },
    permission: { letters, resourceType: "c", sas: "account-only" },
    conditions: "none",
    acceptsSnapshot: true,
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

export const breakShareLease = declareLease(["Share_BreakLease"], "wd", breakHeaders);
