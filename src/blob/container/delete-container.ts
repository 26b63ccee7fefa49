import type { AccountScope } from "../../account/account-record.ts";
import { isRecentlyDeleted, keepDeletion } from "../../account/deleted-names.ts";
import type { DeletedName } from "../../account/deleted-names.ts";
import { noBody } from "../../operation/operation.ts";
import { periodJob, put, reclaimOwned } from "../../operation/effects.ts";
import { fail } from "../../protocol/result.ts";
import { protectionFault } from "../protection/protection.ts";
import { deletedContainers } from "../records.ts";
import { operation, type BlobAddress } from "../resources.ts";

function nameOf({ account }: AccountScope, { container }: BlobAddress): DeletedName {
  return { account: account.id, service: "blob", name: container };
}

/** Removes or soft-deletes the container. A deletion that is repeated within a second succeeds. The
 *  name can be used again at once, unless the account sets `deletedNameSeconds`. A reclaim
 *  job removes the blobs, after the retention time if deleted containers can be restored.
 *  learn.microsoft.com/rest/api/storageservices/delete-container */
export const deleteContainer = operation({
  name: "Delete Container",
  ids: ["Container_Delete"],
  route: { method: "DELETE", resource: "container", query: { restype: "container" } },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "optional",
  conditions: "write",
  lease: "match-if-leased",
  etag: "none",
  effect: "writes",
  isDeletion: true,
  success: { status: 202, headers: [] },
  reads: async (view, { target, scope, address }) =>
    target === undefined
      ? { isRepeated: await isRecentlyDeleted(view, nameOf(scope, address)) }
      : { protection: await protectionFault(view, target.id) },
  decide: ({ target, scope, address, isUnconditional, features, now, readResult }) => {
    const { protection, isRepeated } = readResult;
    if (protection !== undefined) return fail(protection);
    if (target === undefined) {
      // Of the deletions with a condition or a lease id, only one may succeed.
      return isRepeated === true && isUnconditional ? {} : fail("ContainerNotFound");
    }
    const retentionDays = features.containerSoftDeleteDays;
    const reserved = keepDeletion(features, nameOf(scope, address), now);
    if (retentionDays === 0) {
      return { remove: true, effects: [reclaimOwned("container", target.id), ...reserved] };
    }
    const key = { account: scope.account.id, name: address.container, version: now };
    const record = { ...target, lease: undefined, deletedAt: now, retentionDays };
    const expiryJob = periodJob(deletedContainers, key, record);
    const kept = put(deletedContainers, key, record);
    return { remove: true, effects: [kept, ...expiryJob, ...reserved] };
  },
});
