import { newPathAccess, type PathKind } from "../../protocol/posix-access.ts";
import { defaultUmask, superuser, type PosixAccess } from "../../protocol/posix-acl.ts";
import type { RecordCreation } from "../../operation/service.ts";
import type { BlobRecord } from "../records.ts";
import type { ContainerScope } from "../resources.ts";

/** Owner, group and ACL of a new path whose request sets none. Undefined if they are the
 *  defaults. */
export function inheritedAccess(
  kind: PathKind,
  parent: PosixAccess | undefined,
  callerId: string | undefined,
): PosixAccess | undefined {
  if (parent?.acl === undefined && callerId === undefined) return undefined;
  const owners = { owner: callerId ?? superuser, group: parent?.group ?? superuser };
  return newPathAccess({ kind, ...owners, mode: undefined, umask: defaultUmask, parent });
}

/** Sets owner, group and ACL of a written record that has none: those of the record that it
 *  replaces or, if the path is new, those inherited from the parent directory. Hierarchical
 *  accounts only. */
export function completeAccess(
  written: object,
  { scope, before, callerId }: RecordCreation,
): object {
  const { account, ancestors } = scope as ContainerScope;
  const record = written as BlobRecord;
  if (account.hierarchicalNamespace !== true || record.posix !== undefined) return written;
  const kind = record.directory === undefined ? "file" : "directory";
  const posix =
    (before as BlobRecord | undefined)?.posix ??
    (before === undefined ? inheritedAccess(kind, ancestors.at(-1)?.posix, callerId) : undefined);
  return posix === undefined ? written : { ...record, posix };
}
