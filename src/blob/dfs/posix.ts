import { newPathAccess, type PathKind } from "../../protocol/posix-access.ts";
import { defaultUmask, formatPermissions, superuser } from "../../protocol/posix-acl.ts";
import { setAcl } from "../../protocol/posix-acl-changes.ts";
import type { AclEntry, PosixAccess } from "../../protocol/posix-acl.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";
import { accessOf } from "../tree/path-facts.ts";

export interface RequestedAccess {
  readonly owner: string | undefined;
  readonly group: string | undefined;
  readonly permissions: number | undefined;
  readonly umask: number | undefined;
  readonly acl: readonly AclEntry[] | undefined;
}

export interface CreationPlace {
  readonly kind: PathKind;
  readonly parent: BlobRecord | undefined;
  /** Object id of a caller with a bearer token. */
  readonly callerId: string | undefined;
}

/** The access of a new path: as requested, else inherited from its directory. */
export function accessOfNew(
  requested: RequestedAccess,
  { kind, parent, callerId }: CreationPlace,
): Result<PosixAccess> {
  const { acl, umask = defaultUmask, permissions: mode } = requested;
  const parentAccess = parent && accessOf(parent);
  const owner = requested.owner ?? callerId ?? superuser;
  const group = requested.group ?? parentAccess?.group ?? superuser;
  const created = newPathAccess({ kind, owner, group, mode, umask, parent: parentAccess });
  if (acl === undefined) return ok(created);
  if (mode !== undefined) return fail("InvalidPermission");
  return replaceAcl({ owner, group, mode: created.mode }, acl, kind);
}

/** Files have no default entries. */
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

export function accessHeaders(record: BlobRecord) {
  const access = accessOf(record);
  return {
    "x-ms-owner": access.owner,
    "x-ms-group": access.group,
    "x-ms-permissions": formatPermissions(access),
  };
}
