import {
  maySetOwners,
  newPathAccess,
  readBit,
  writeBit,
  executeBit,
  grants,
  type AccessNeed,
  type AclCaller,
  type PathKind,
} from "../../../protocol/posix-access.ts";
import {
  defaultUmask,
  formatPermissions,
  setAcl,
  superuser,
  formatAcl,
  setMode,
  type AclEntry,
  type PosixAccess,
} from "../../../protocol/posix-acl.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import { every, type ActionNeed } from "../../../protocol/roles/role.ts";
import type { BlobRecord } from "../../records.ts";
import { accessOf, resourceType } from "../../tree/find-path.ts";
import { blobRead, blobChange } from "../../blob-policy.ts";
import { query } from "../../../protocol/params.ts";
import { pathOperation } from "../../resources.ts";
import { acl, group, owner, permissions, upn } from "../params.ts";

/** The operations of the Data Lake API on owner, group and access control list of a path, and the
 *  access that a new path gets. */

/** Owner, group and access control list in a request; undefined fields get defaults. */
interface RequestedAccess {
  readonly owner: string | undefined;
  readonly group: string | undefined;
  readonly permissions: number | undefined;
  readonly umask: number | undefined;
  readonly acl: readonly AclEntry[] | undefined;
}

/** Where and by whom a path is created, from which it gets owner, group and list. `parent` is
 *  undefined on flat accounts. */
interface PathCreation {
  readonly kind: PathKind;
  readonly parent: BlobRecord | undefined;
  /** The path that is replaced; the new one keeps its owner, group and list (`completeAccess`). */
  readonly existing: BlobRecord | undefined;
  /** Object id of a caller with a bearer token; undefined for other callers. */
  readonly callerId: string | undefined;
  /** The caller, if access control lists limit it; undefined for account keys, SAS tokens and
   *  callers whose roles suffice. */
  readonly aclCaller: AclCaller | undefined;
}

/** The permission bits on a file that Append Data and Flush Data require.
 *  learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
export const appendAccess: AccessNeed = { target: readBit | writeBit };

const ownershipAction = every("blobServices/containers/blobs/manageOwnership/action");

/** The role action that the caller of a request needs in addition if it sets an owner or group. */
export function ownershipNeed(input: object): ActionNeed | undefined {
  const requested: Partial<RequestedAccess> = input;
  const hasNone = requested.owner === undefined && requested.group === undefined;
  return hasNone ? undefined : ownershipAction;
}

/** Owner, group and list of a new path: as requested, else inherited from its directory. */
export function accessOfNew(
  requested: RequestedAccess,
  { kind, parent, existing, callerId, aclCaller }: PathCreation,
): Result<PosixAccess> {
  const { acl: entries, umask = defaultUmask, permissions: mode } = requested;
  const parentAccess = parent && accessOf(parent);
  const creators = { owner: callerId ?? superuser, group: parentAccess?.group ?? superuser };
  const owners = existing === undefined ? creators : accessOf(existing);
  if (aclCaller !== undefined && !maySetOwners(owners, requested, aclCaller)) {
    return fail("AuthorizationPermissionMismatch");
  }
  const named = {
    owner: requested.owner ?? owners.owner,
    group: requested.group ?? owners.group,
  };
  const created = newPathAccess({ kind, ...named, mode, umask, parent: parentAccess });
  if (entries === undefined) return ok(created);
  if (mode !== undefined) return fail("InvalidPermission");
  return replaceAcl({ ...named, mode: created.mode }, entries, kind);
}

/** Replaces the access control list of a path; a fault for default entries of a file, which only
 *  directories have: new paths in a directory inherit them. */
function replaceAcl(
  access: PosixAccess,
  entries: readonly AclEntry[],
  kind: PathKind,
): Result<PosixAccess> {
  const isMisplaced = kind === "file" && entries.some(({ scope }) => scope === "default");
  const replaced = isMisplaced ? undefined : setAcl(access, entries);
  return replaced === undefined ? fail("InvaldAccessControlList") : ok(replaced);
}

/** Response headers of Get and Set Access Control: owner, group and permissions of a path. */
function accessHeaders(record: BlobRecord) {
  const access = accessOf(record);
  return {
    "x-ms-owner": access.owner,
    "x-ms-group": access.group,
    "x-ms-permissions": formatPermissions(access),
  };
}

/** Returns owner, group, permissions and access control list of a path. Needs no customer-provided
 *  key for an encrypted path (recorded from Azure).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/get-properties */
export const getAccessControl = pathOperation({
  ...blobRead,
  name: "Get Access Control",
  ids: [],
  route: { method: "HEAD", resource: "blob", query: { action: "getAccessControl" } },
  params: { upn },
  permission: { letters: "er", resourceType: "o", posix: {} },
  namespace: "hierarchical",
  policy: { ...blobRead.policy, generations: "current", clientKey: "none" },
  decide: ({ target }) => ({
    headers: { ...accessHeaders(target), "x-ms-acl": formatAcl(accessOf(target)) },
  }),
});

/** Parses the permissions in Check Access (`r-x` or `rx`) into bits; undefined if malformed. */
function parseAction(text: string): number | undefined {
  if (!/^[r-]?[w-]?[x-]?$/.test(text) || text === "") return undefined;
  const bit = (letter: string, value: number) => (text.includes(letter) ? value : 0);
  return bit("r", readBit) | bit("w", writeBit) | bit("x", executeBit);
}

function bitsOf(input: object): number {
  return "bits" in input && typeof input.bits === "number" ? input.bits : 0;
}

const writeNeed = every("blobServices/containers/blobs/write");

/** Check Access: tells a caller whether it has the given permissions on a path, from its roles or
 *  else from the access control list. An account key and a SAS have all of them. */
export const checkAccess = pathOperation({
  ...blobRead,
  name: "Check Access",
  ids: [],
  route: { method: "HEAD", resource: "blob", query: { action: "checkAccess" } },
  params: { bits: query("fsAction", parseAction) },
  permission: {
    letters: "er",
    resourceType: "o",
    posix: {},
    furtherActions: (input) => ((bitsOf(input) & writeBit) === 0 ? undefined : writeNeed),
  },
  namespace: "hierarchical",
  policy: { ...blobRead.policy, generations: "current", clientKey: "none" },
  decide: ({ target, input, aclCaller }) => {
    if (aclCaller === undefined) return {};
    const mayDo = grants(accessOf(target), aclCaller, bitsOf(input));
    return mayDo ? {} : fail("AuthorizationPermissionMismatch");
  },
});

/** Changes the owner, group, permissions or access control list of a path. Neither ETag nor
 *  Last-Modified changes (recorded from Azure).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/update */
export const setAccessControl = pathOperation({
  name: "Set Access Control",
  ids: ["Path_SetAccessControl"],
  route: { method: "PATCH", resource: "blob", query: { action: "setAccessControl" } },
  params: { acl, permissions, owner, group },
  permission: {
    letters: "po",
    resourceType: "o",
    posix: { owner: true },
    furtherActions: ownershipNeed,
  },
  namespace: "hierarchical",
  target: "must-exist",
  conditions: "write",
  lease: "match-if-given",
  policy: { ...blobChange.policy, clientKey: "none" },
  etag: "keep",
  decide: ({ target, input, aclCaller }) => {
    const isGiven = aclCaller === undefined || maySetOwners(accessOf(target), input, aclCaller);
    if (!isGiven) return fail("AuthorizationPermissionMismatch");
    const changed = changeAccess(target, input);
    if (!changed.ok) return changed;
    return {
      put: { ...target, posix: changed.value },
      headers: { "x-ms-namespace-enabled": "true" },
    };
  },
});

function changeAccess(
  target: BlobRecord,
  requested: Omit<RequestedAccess, "umask">,
): Result<PosixAccess> {
  const current = accessOf(target);
  const { owner: newOwner = current.owner, group: newGroup = current.group } = requested;
  const owned: PosixAccess = { ...current, owner: newOwner, group: newGroup };
  const { acl: entries, permissions: mode } = requested;
  if (entries !== undefined && mode !== undefined) return fail("InvalidPermission");
  if (entries !== undefined) return replaceAcl(owned, entries, resourceType(target));
  return ok(mode === undefined ? owned : setMode(owned, mode));
}
