import { breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import type { Route } from "../../operation/operation.ts";
import { leaseReply } from "../../protocol/lease-action.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/lease-container */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { restype: "container", comp: "lease" };
  return operation({
    ...leaseChange,
    name: "Lease Container",
    ids,
    route: { method: "PUT", resource: "container", query, headers },
    since: "2012-02-12",
    params: { action: leaseAction("container") },
    permission: { letters, resourceType: "c", sas: "account-only" },
    conditions: "write",
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

export const breakContainerLease = declareLease(["Container_BreakLease"], "wd", breakHeaders);
