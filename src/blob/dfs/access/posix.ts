import {
  maySetOwners,
  newPathAccess,
  readBit,
  writeBit,
  type AccessNeed,
  type AclCaller,
  type PathKind,
} from "../../../protocol/posix-access.ts";
import {
  defaultUmask,
  formatPermissions,
  setAcl,
  superuser,
  type AclEntry,
  type PosixAccess,
} from "../../../protocol/posix-acl.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import { every, type ActionNeed } from "../../../protocol/roles/role.ts";
import type { BlobRecord } from "../../records.ts";
import { accessOf } from "../../tree/path-facts.ts";

/** The access that a request sets; undefined fields have defaults. */
export interface RequestedAccess {
  readonly owner: string | undefined;
  readonly group: string | undefined;
  readonly permissions: number | undefined;
  readonly umask: number | undefined;
  readonly acl: readonly AclEntry[] | undefined;
}

/** Where and by whom a path is created. `parent` is undefined on flat accounts. */
interface PathCreation {
  readonly kind: PathKind;
  readonly parent: BlobRecord | undefined;
  /** The path that is replaced, which keeps its access (`completeAccess`). */
  readonly existing: BlobRecord | undefined;
  /** Object id of a caller with a bearer token. */
  readonly callerId: string | undefined;
  /** The caller, if access control lists limit what it may do. */
  readonly aclCaller: AclCaller | undefined;
}

/** The bits that appending to a file and flushing it require.
 *  learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
export const appendAccess: AccessNeed = { target: readBit | writeBit };

const ownershipAction = every("blobServices/containers/blobs/manageOwnership/action");

/** The action that a role must grant in addition to set an owner or group. */
export function ownershipNeed(input: object): ActionNeed | undefined {
  const { owner, group }: Partial<RequestedAccess> = input;
  return owner === undefined && group === undefined ? undefined : ownershipAction;
}

/** Owner, group and list of a new path: as requested, otherwise inherited from its directory. */
export function accessOfNew(
  requested: RequestedAccess,
  { kind, parent, existing, callerId, aclCaller }: PathCreation,
): Result<PosixAccess> {
  const { acl, umask = defaultUmask, permissions: mode } = requested;
  const parentAccess = parent && accessOf(parent);
  const creators = { owner: callerId ?? superuser, group: parentAccess?.group ?? superuser };
  const owners = existing === undefined ? creators : accessOf(existing);
  if (aclCaller !== undefined && !maySetOwners(owners, requested, aclCaller)) {
    return fail("AuthorizationPermissionMismatch");
  }
  const { owner = owners.owner, group = owners.group } = requested;
  const created = newPathAccess({ kind, owner, group, mode, umask, parent: parentAccess });
  if (acl === undefined) return ok(created);
  if (mode !== undefined) return fail("InvalidPermission");
  return replaceAcl({ owner, group, mode: created.mode }, acl, kind);
}

/** Replaces the list of a path; a fault for default entries of a file, which only directories
 *  have. */
export function replaceAcl(
  access: PosixAccess,
  entries: readonly AclEntry[],
  kind: PathKind,
): Result<PosixAccess> {
  const isMisplaced = kind === "file" && entries.some(({ scope }) => scope === "default");
  const replaced = isMisplaced ? undefined : setAcl(access, entries);
  return replaced === undefined ? fail("InvaldAccessControlList") : ok(replaced);
}

export const accessHeaderNames = ["x-ms-owner", "x-ms-group", "x-ms-permissions"] as const;

/** The headers with owner, group and permissions of a path. */
export function accessHeaders(record: BlobRecord) {
  const access = accessOf(record);
  return {
    "x-ms-owner": access.owner,
    "x-ms-group": access.group,
    "x-ms-permissions": formatPermissions(access),
  };
}
