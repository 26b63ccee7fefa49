import { breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import type { Route } from "../../operation/operation.ts";
import { leaseReply } from "../../protocol/lease-action.ts";
import { put } from "../../operation/effects.ts";
import { uploads } from "../records.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/lease-blob */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { comp: "lease" };
  return operation({
    ...leaseChange,
    name: "Lease Blob",
    ids,
    route: { method: "PUT", resource: "blob", query, headers },
    since: "2009-09-19",
    params: { action: leaseAction("blob") },
    permission: { letters, resourceType: "o" },
    conditions: "write",
    policy: {
      content: "none",
      generations: "current",
      pendingCopy: "reject",
      clientKey: "none",
      event: "none",
      // Recorded of a blob that is leased before its blocks are committed.
      uncommitted: "exists",
    },
    decide: ({ scope, target, input, now, newGuid }) => {
      const reply = leaseReply({ target, action: input.action, kind: "blob", now, newGuid });
      const upload = scope.upload?.live;
      if ("fault" in reply || upload === undefined) return reply;
      const { put: leased, ...rest } = reply;
      return { ...rest, effects: [put(uploads, scope.key, { ...upload, lease: leased.lease })] };
    },
  });
}

export const leaseBlob = declareLease(
  ["Blob_AcquireLease", "Blob_RenewLease", "Blob_ChangeLease", "Blob_ReleaseLease"],
  "w",
);

export const breakBlobLease = declareLease(["Blob_BreakLease"], "wd", breakHeaders);
