import { put, type Effect } from "../../operation/effects.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { newPathAccess, type PathKind } from "../../protocol/posix-access.ts";
import { defaultUmask, superuser, type PosixAccess } from "../../protocol/posix-acl.ts";
import type { CreationContext, PreparedScope, RecordCreation } from "../../operation/service.ts";
import { blobs, type BlobKey, type BlobRecord } from "../records.ts";
import type { ContainerScope } from "../resources.ts";
import { newDirectory } from "./directory-record.ts";

/** Creates the parent directories of a path that is about to be created. Undefined if there is
 *  nothing to create, as always on flat accounts. */
export function createParents(
  found: object,
  { newId, newETag, now, callerId }: CreationContext,
): Result<PreparedScope> | undefined {
  const scope = found as ContainerScope;
  const { missingParents, isParentFile } = scope;
  if (missingParents.length === 0) return undefined;
  if (isParentFile) return fail("PathConflict");
  const ancestors: BlobRecord[] = [...scope.ancestors];
  const effects: Effect[] = [];
  let parent = ancestors.at(-1)?.directory ?? scope.container.id;
  let posix = ancestors.at(-1)?.posix;
  for (const name of missingParents) {
    const id = newId();
    posix = inheritedAccess("directory", posix, callerId);
    const record = newDirectory({ id, etag: newETag, now, posix });
    effects.push(put(blobs, { container: parent, name }, record));
    ancestors.push(record);
    parent = id;
  }
  const key: BlobKey = { container: parent, name: scope.key.name };
  return ok({ scope: { ...scope, key, ancestors, missingParents: [] }, effects });
}

/** The access of a path that is created without any of its own; undefined for the default. */
export function inheritedAccess(
  kind: PathKind,
  parent: PosixAccess | undefined,
  callerId: string | undefined,
): PosixAccess | undefined {
  if (parent?.acl === undefined && callerId === undefined) return undefined;
  const owners = { owner: callerId ?? superuser, group: parent?.group ?? superuser };
  return newPathAccess({ kind, ...owners, mode: undefined, umask: defaultUmask, parent });
}

/** Gives a new path the access that it inherits, unless the operation has set one. A path that is
 *  replaced keeps its own. */
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
