import { put, periodJob, reclaimOwned, remove, type Effect } from "../../operation/effects.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import { metadata, otherName } from "../../operation/common-params.ts";
import { parseScope } from "../../protocol/encryption.ts";
import { boolean, header, required, text, type Param } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { blobs, deletedContainers, containers } from "../records.ts";
import { isHierarchical, operation, type BlobAddress } from "../resources.ts";
import { inheritedAccess, newDirectory } from "../tree/create-parents.ts";
import { rootName } from "../tree/find-path.ts";
import { checkScope } from "../shared/create-blob.ts";
import { publicAccess } from "./container-properties.ts";
import type { AccountScope } from "../../account/account-record.ts";
import { isRecentlyDeleted, keepDeletion, type DeletedName } from "../../account/deleted-names.ts";
import { protectionFault } from "../protection/protection.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import type { SameCredentialsResource } from "../../protocol/named-resource.ts";
import { noETag, creation } from "../../operation/operation.ts";
import { parseDeletedVersion } from "../../protocol/deleted-version.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { checkLease } from "../../protocol/lease.ts";

/** Operations that create, delete, restore and rename containers. All change only the record of the
 *  container: blobs are keyed by its id. */

const defaultScopeHeader = "x-ms-default-encryption-scope";

const defaultEncryptionScope: Param<string | undefined> = {
  sources: [defaultScopeHeader],
  parse: (reader) => parseScope(reader, defaultScopeHeader),
};

/** Creates an empty container, on hierarchical accounts with its root directory.
 *  learn.microsoft.com/rest/api/storageservices/create-container */
export const createContainer = operation({
  name: "Create Container",
  ids: ["Container_Create"],
  route: { method: "PUT", resource: "container", query: { restype: "container" } },
  params: {
    metadata,
    publicAccess,
    defaultEncryptionScope,
    denyEncryptionScopeOverride: header("x-ms-deny-encryption-scope-override", boolean),
  },
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  ...creation,
  status: 201,
  decide: ({ input, features, newETag, newId, scope, callerId }) => {
    if (input.publicAccess !== undefined && !features.publicAccess) {
      return fail("PublicAccessNotPermitted");
    }
    const known = checkScope(input.defaultEncryptionScope, features);
    if (!known.ok) return known;
    const { metadata: pairs, publicAccess: access } = input;
    const id = newId();
    return {
      ...(isHierarchical(scope) ? { effects: [putRoot(id, newETag, callerId)] } : {}),
      put: {
        id,
        etag: newETag,
        metadata: pairs,
        policies: [],
        publicAccess: access,
        defaultEncryptionScope: input.defaultEncryptionScope,
        denyEncryptionScopeOverride: input.denyEncryptionScopeOverride,
      },
    };
  },
});

/** Creates the root directory of a container of a hierarchical account. The id of the container is
 *  also the id of its root directory. A caller with a bearer token becomes its owner and its owning
 *  group. learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
export function putRoot(id: bigint, etag: Ticks, callerId: string | undefined): Effect {
  const access = inheritedAccess("directory", undefined, callerId);
  const posix = access && { ...access, group: access.owner };
  const root = newDirectory({ id, etag, now: etag, posix });
  return put(blobs, { container: id, name: rootName }, root);
}

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
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "optional",
  conditions: "write",
  lease: "match-if-leased",
  etag: "none",
  isDeletion: true,
  status: 202,
  reads: async (view, { target, scope, address }) =>
    target === undefined
      ? { isRepeated: await isRecentlyDeleted(view, nameOf(scope, address)) }
      : { protection: await protectionFault(view, target.id) },
  decide: ({ target, scope, address, isUnconditional, features, now, readResult }) => {
    const { protection, isRepeated } = readResult;
    if (protection !== undefined) return fail(protection);
    if (target === undefined) {
      // A repeated deletion with a condition or a lease id fails: only one of them may succeed.
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

const restoreQuery = { restype: "container", comp: "undelete" };
const restoreParams = {
  name: required(header("x-ms-deleted-container-name", otherName)),
  version: required(header("x-ms-deleted-container-version", text)),
};

const restorePermission = { letters: "w", resourceType: "c", sas: "account-only" } as const;
const deletedContainer: SameCredentialsResource<BlobAddress, { readonly name: string }> = {
  kind: "same-credentials",
  parameter: "x-ms-deleted-container-name",
  permission: restorePermission,
  resourceOf: (_, { name }) => ({ name }),
};

/** Restores the record of a soft-deleted container; its blobs were not removed. The new name may
 *  differ from the old one. learn.microsoft.com/rest/api/storageservices/restore-container */
export const restoreContainer = operation({
  name: "Restore Container",
  ids: ["Container_Restore"],
  route: { method: "PUT", resource: "container", query: restoreQuery },
  since: "2019-12-12",
  params: restoreParams,
  namedResources: [deletedContainer],
  permission: restorePermission,
  target: "must-not-exist",
  ...noETag,
  status: 201,
  reads: async (view, { scope, input }) => {
    const version = parseDeletedVersion(input.version);
    if (version === undefined) return undefined;
    const key = { account: scope.account.id, name: input.name, version };
    const record = await view.get(deletedContainers, key);
    return record && { key, record };
  },
  decide: ({ readResult, newETag, now }) => {
    if (readResult === undefined) return fail("ContainerNotFound");
    const { deletedAt, retentionDays, ...container } = readResult.record;
    if (now >= deletedAt + BigInt(retentionDays) * ticksPerDay) return fail("ContainerNotFound");
    return {
      put: { ...container, etag: newETag },
      effects: [remove(deletedContainers, readResult.key)],
    };
  },
});

/** Restore Container without a container in the path: a client library that is given an empty name
 *  sends neither path nor header, and the service reports the missing header. */
export const restoreNoContainer = operation({
  name: "Restore Container",
  ids: [],
  route: { method: "PUT", resource: "service", query: restoreQuery },
  since: "2019-12-12",
  params: restoreParams,
  namedResources: [deletedContainer],
  permission: restorePermission,
  target: "must-exist",
  ...noETag,
  effect: "reads",
  status: 201,
  decide: () => invalidQuery("comp", restoreQuery.comp),
});

const acceptsLeaseId = "2021-06-08";

/** Moves the record of the container to the new name. Blobs are keyed by the container's id and do
 *  not change. learn.microsoft.com/rest/api/storageservices/rename-container */
export const renameContainer = operation({
  name: "Rename Container",
  ids: ["Container_Rename"],
  route: { method: "PUT", resource: "container", query: { restype: "container", comp: "rename" } },
  since: "2020-06-12",
  params: {
    source: required(header("x-ms-source-container-name", otherName)),
    sourceLeaseId: header("x-ms-source-lease-id", parseGuid),
  },
  namedResources: [
    {
      kind: "same-credentials",
      parameter: "x-ms-source-container-name",
      permission: { letters: "w", resourceType: "c", sas: "account-only" },
      resourceOf: (_, { source: name }) => ({ name }),
    },
  ],
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  target: "must-not-exist",
  ...noETag,
  reads: async (view, { scope, input }) => {
    const key = { account: scope.account.id, name: input.source };
    const record = await view.get(containers, key);
    return record && { key, record };
  },
  decide: ({ readResult, input, newETag, now, version }) => {
    // Recorded from Azure: of all versions only 2021-06-08 accepts the source's lease id.
    if (input.sourceLeaseId !== undefined && version !== acceptsLeaseId) {
      return invalidQuery("comp", "rename");
    }
    if (readResult === undefined) return fail("ContainerNotFound");
    const { key, record } = readResult;
    const id = input.sourceLeaseId;
    const allowed = checkLease(record.lease, id, "match-if-leased", "container", now);
    if (!allowed.ok) return allowed;
    // The old record is removed first: both have the same entry in the index of container names.
    return {
      preserve: [remove(containers, key)],
      put: { ...record, etag: newETag, lease: undefined },
    };
  },
});
