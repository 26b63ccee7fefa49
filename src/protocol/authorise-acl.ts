import type { Permission } from "./permission.ts";
import { executeBit, mayAccess, readBit, writeBit } from "./posix-access.ts";
import type { AccessNeed, AclCaller, PathAccess } from "./posix-access.ts";
import { fail, ok, type Result } from "./result.ts";

/** The bits that creating, deleting or renaming a path requires of its parent directory. */
export const directoryChange: AccessNeed = {
  parent: writeBit | executeBit,
  removesFromParent: true,
};

/** The part of an operation that access control lists decide about. */
export interface AclRequest {
  readonly permission: Permission;
  /** Whether the operation creates a path that does not exist. */
  readonly mayCreate: boolean;
}

/** The permission bits that an operation needs. They follow from its SAS letters unless the
 *  declaration has `posix`. An operation on an existing path needs none on a missing one: a caller
 *  that may search the directories above it gets 404. */
function accessNeed({ permission, mayCreate }: AclRequest, exists: boolean): AccessNeed {
  const { letters = "", posix } = permission;
  if (posix !== undefined) return posix;
  if (!exists) return mayCreate ? { parent: writeBit | executeBit } : {};
  if (letters.includes("w") || letters.includes("a")) return { target: writeBit };
  if (letters.includes("d")) return directoryChange;
  return letters.includes("r") ? { target: readBit } : {};
}

/** Checks the access control lists that apply to a path. */
export function authoriseByAcl(
  caller: AclCaller,
  request: AclRequest,
  path: PathAccess,
): Result<void> {
  const isAllowed = mayAccess(path, caller, accessNeed(request, path.target !== undefined));
  return isAllowed ? ok(undefined) : fail("AuthorizationPermissionMismatch");
}
