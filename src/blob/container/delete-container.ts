import { reserveName } from "../../account/deleted-names.ts";
import { noBody } from "../../operation/operation.ts";
import { put, reclaim, reclaimAt } from "../../operation/effects.ts";
import { fail } from "../../protocol/result.ts";
import { ticksPerDay } from "../../base/ticks.ts";
import { protectionFault } from "../protection/protection.ts";
import { deletedContainers } from "../records.ts";
import { operation } from "../resources.ts";

/** Removes or soft-deletes the container. The name can be used again at once, unless the account
 *  sets `deletedNameSeconds`. A reclaim job removes the blobs, after the retention time if deleted
 *  containers can be restored. learn.microsoft.com/rest/api/storageservices/delete-container */
export const deleteContainer = operation({
  name: "Delete Container",
  ids: ["Container_Delete"],
  route: { method: "DELETE", resource: "container", query: { restype: "container" } },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  etag: "none",
  effect: "writes",
  isDeletion: true,
  success: { status: 202, headers: [] },
  reads: (view, { target }) => protectionFault(view, target.id),
  decide: ({ target, scope, address, features, now, readResult }) => {
    if (readResult !== undefined) return fail(readResult);
    const retentionDays = features.containerSoftDeleteDays;
    const name = { account: scope.account.id, service: "blob", name: address.container } as const;
    const reserved = reserveName(features, name, now);
    if (retentionDays === 0) {
      return { remove: true, effects: [reclaim("blob-container", target.id), ...reserved] };
    }
    const key = { account: scope.account.id, name: address.container, version: now };
    const record = { ...target, lease: undefined, deletedAt: now, retentionDays };
    const due = now + BigInt(retentionDays) * ticksPerDay;
    const expiryJob = reclaimAt(due, "blob-deleted-container", key.account, key.name, key.version);
    return { remove: true, effects: [put(deletedContainers, key, record), expiryJob, ...reserved] };
  },
});
