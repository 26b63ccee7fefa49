import type { RecordView } from "../../operation/view.ts";
import { mayEmpty, mayRemove, type AclCaller } from "../../protocol/posix-access.ts";
import type { PosixAccess } from "../../protocol/posix-acl.ts";
import type { BlobRecord } from "../records.ts";
import { accessOf } from "../tree/path-facts.ts";
import { walkPaths } from "./path-walk.ts";

/** Limit of this server for the paths whose lists one request checks. The service checks more in
 *  several requests, whose tokens clients could forge here. */
const checkedPathsMax = 20_000;

/** Checks whether access control lists permit a caller to delete a directory with everything in it:
 *  every directory must permit listing and removing, and in one with the sticky bit all entries
 *  must be the caller's. Returns "unknown" if there are too many paths.
 *  learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
export async function checkTreeDeletion(
  view: RecordView,
  target: BlobRecord,
  caller: AclCaller,
  limit = checkedPathsMax,
): Promise<"allowed" | "denied" | "unknown"> {
  if (target.directory === undefined) return "allowed";
  const { paths, next } = await walkPaths(view, {
    root: target.directory,
    rootPath: "",
    recursive: true,
    from: "",
    limit,
  });
  const parents = new Map<bigint, PosixAccess>([[target.directory, accessOf(target)]]);
  const isAllowed = paths.every(({ key, record }) => {
    const access = accessOf(record);
    const parent = parents.get(key.container);
    if (parent !== undefined && !mayRemove(parent, access, caller)) return false;
    if (record.directory === undefined) return true;
    parents.set(record.directory, access);
    return mayEmpty(access, caller);
  });
  if (!isAllowed || !mayEmpty(accessOf(target), caller)) return "denied";
  return next === undefined ? "allowed" : "unknown";
}
