import { splitPath, rootName, accessOf } from "../../tree/find-path.ts";
import type { RecordView } from "../../../operation/view.ts";
import { boolean, query } from "../../../protocol/params.ts";
import { fail } from "../../../protocol/result.ts";
import type { DecidedEvent } from "../../events.ts";
import { blobs, generations, uploads, type BlobRecord, type UploadRecord } from "../../records.ts";
import { isHierarchical, pathOperation, type ContainerScope } from "../../resources.ts";
import {
  becomesVersion,
  blobKey,
  dropUpload,
  generationsOf,
  retentionDays,
  softDelete,
  type Generation,
  type OverwriteContext,
} from "../../shared/overwrite.ts";
import { dependentParent, type DependentParent } from "../../shared/prefixes.ts";
import {
  deletedPathKey,
  deletePath,
  isDirectoryEmpty,
  reclaimBelow,
} from "../../tree/move-path.ts";
import { isLiveSnapshot } from "../../write/delete-blob.ts";
import { continuation, continuationHeader, continuationOf } from "../continuation.ts";
import { deleteEntries, keepParent, readEntries, type FlatEntries } from "./flat-directory.ts";
import type { Ticks } from "../../../base/ticks.ts";
import { remove, type Effect } from "../../../operation/effects.ts";
import { mayEmpty, mayRemove, type AclCaller } from "../../../protocol/posix-access.ts";
import type { PosixAccess } from "../../../protocol/posix-acl.ts";
import { walkPaths, type WalkedPath } from "../path-walk.ts";
import { blobChange } from "../../blob-policy.ts";

/** Delete Path: deletes a file, or a directory with everything in it. Three cases: a tree in one
 *  commit, a tree in portions if access control lists must be checked for many paths, and flat
 *  accounts in portions (`flat-directory.ts`). */

/** Limits of this server for one delete request of a caller whom access control lists limit: each
 *  path must be checked, which takes time and memory. */
interface TreeLimits {
  /** Most paths whose lists are checked. A directory with fewer is deleted in one transaction. */
  readonly checked: number;
  /** Most paths that a request reads of a larger directory, in order to delete a part of them. */
  readonly deleted: number;
}

const treeLimits: TreeLimits = { checked: 20_000, deleted: 2000 };

/** Input of `checkTreeDeletion`: a directory to delete with all in it, and the caller. */
interface TreeDeletion {
  readonly path: string;
  readonly target: BlobRecord;
  readonly caller: AclCaller;
  /** Whether an earlier request has deleted a first part of the directory. */
  readonly isContinued: boolean;
}

/** What one request may delete of a directory: all, nothing because the access control lists forbid
 *  it, or a first part because the directory has too many paths for one request. */
type PermittedDeletion = "all" | "nothing" | TreePart;

/** The part of a directory that one request may delete; the next requests delete the rest. */
interface TreePart {
  readonly paths: readonly PartPath[];
  /** The first path that is left to the next request. */
  readonly next: string;
}

/** A path to delete, with all that must be deleted or kept with it. */
interface PartPath extends WalkedPath {
  readonly upload: UploadRecord | undefined;
  /** The blob snapshots of a file. */
  readonly kept: readonly Generation[];
}

/** Checks what access control lists permit a caller to delete of a directory: every directory must
 *  permit listing and removing, and in one with the sticky bit all entries must be the caller's.
 *  Every request starts with the first path that is left and checks all that it deletes: a
 *  continuation token, which clients could forge, grants nothing.
 *  learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
async function checkTreeDeletion(
  view: RecordView,
  { path, target, caller, isContinued }: TreeDeletion,
  { checked, deleted }: TreeLimits = treeLimits,
): Promise<PermittedDeletion> {
  if (target.directory === undefined) return "all";
  const { paths, next } = await walkPaths(view, {
    root: target.directory,
    rootPath: path,
    recursive: true,
    from: "",
    limit: isContinued ? deleted : checked,
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
  if (!isAllowed || !mayEmpty(accessOf(target), caller)) return "nothing";
  if (next === undefined) return "all";
  const rest = paths[deleted]?.path ?? next;
  return { paths: await readPart(view, paths.slice(0, deleted), rest), next: rest };
}

/** Selects the paths to delete among those that were read: not the directories on the way to the
 *  path `next`, which still have entries, and not entries of a directory that is itself deleted. */
async function readPart(
  view: RecordView,
  walked: readonly WalkedPath[],
  next: string,
): Promise<readonly PartPath[]> {
  const part: PartPath[] = [];
  const deleted = new Set<bigint>();
  for (const each of walked) {
    const { path, key, record } = each;
    const { directory } = record;
    const isBelow = deleted.has(key.container);
    if (directory !== undefined && (isBelow || !next.startsWith(`${path}/`))) {
      deleted.add(directory);
    }
    if (isBelow || next.startsWith(`${path}/`)) continue;
    const isFile = directory === undefined;
    const upload = isFile ? await view.get(uploads, key) : undefined;
    part.push({ ...each, upload, kept: isFile ? await generationsOf(view, key) : [] });
  }
  return part;
}

/** The effects that delete a part of a directory, each path as `deletePath` does. */
function deletePart(scope: ContainerScope, { paths }: TreePart, at: Ticks): readonly Effect[] {
  const days = retentionDays(scope.account);
  return paths.flatMap(({ path, key, record, upload, kept }) => {
    // The soft-deleted state is written before the blob is deleted: its content must not be without
    // a reference in between, or it would be freed.
    const preserved =
      days === undefined
        ? []
        : softDelete(deletedPathKey(scope, path, at), record, { at, retentionDays: days });
    const lost =
      days === undefined
        ? [...kept.map((each) => remove(generations, each.key)), ...reclaimBelow(record)]
        : [];
    return [...dropUpload(key, upload), ...preserved, remove(blobs, key), ...lost];
  });
}

const notEmptyText =
  "The recursive query parameter value must be true to delete a non-empty directory.";

/** Deletes a path, and everything below a directory: in one commit, with reclaim jobs that free the
 *  space later, or in portions: on flat accounts (`deleteFlat`), and if access control lists are
 *  checked for many paths.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/delete */
export const deleteAnyPath = pathOperation({
  name: "Delete Path",
  ids: ["Path_Delete"],
  route: { method: "DELETE", resource: "blob" },
  params: {
    recursive: query("recursive", boolean),
    paginated: query("paginated", boolean),
    continuation,
  },
  permission: { letters: "d", resourceType: "o", reachesBelow: isRecursive },
  target: "optional",
  conditions: "write",
  lease: "match-if-leased",
  policy: { ...blobChange.policy, content: "remove", clientKey: "none", event: "decided" },
  etag: "none",
  isDeletion: true,
  reads: async (view, context): Promise<DeletionReads> => {
    const { scope, address, target, input, aclCaller: caller } = context;
    const upload = await view.get(uploads, blobKey({ scope }));
    const isInTree = isHierarchical(scope);
    const isFile = target !== undefined && target.directory === undefined;
    const kept = isFile || !isInTree ? await generationsOf(view, blobKey({ scope })) : [];
    const found = { upload, kept, isEmpty: true };
    if (!isInTree) {
      const below = await readEntries(view, scope, target);
      return { ...found, below, parent: await dependentParent(view, blobKey({ scope })) };
    }
    if (target === undefined) return found;
    if (input.recursive !== true) return { ...found, isEmpty: await isReplaceable(view, target) };
    if (caller === undefined) return found;
    const isContinued = input.continuation !== undefined;
    const deletion = { path: splitPath(address.blob).join("/"), target, caller, isContinued };
    return { ...found, permitted: await checkTreeDeletion(view, deletion) };
  },
  decide: (context) => {
    const { scope, address, target, newETag, input, readResult } = context;
    if (scope.key.name === rootName) return fail("InvalidUri");
    const { below, isEmpty, upload, kept, permitted = "all" } = readResult;
    if (below !== undefined) return deleteFlat(context, readResult, input.recursive === true);
    if (target === undefined) return fail("BlobNotFound");
    if (!isEmpty) return fail("DirectoryNotEmpty", { message: notEmptyText });
    if (permitted === "nothing") return fail("AuthorizationPermissionMismatch");
    if (permitted !== "all") {
      // Without `paginated`, the client ignores the continuation token and would assume that
      // everything is deleted.
      if (input.paginated !== true) return fail("OperationTimedOut");
      const isKept = retentionDays(scope.account) !== undefined;
      return {
        effects: deletePart(scope, permitted, newETag),
        headers: {
          "x-ms-delete-type-permanent": String(!isKept),
          [continuationHeader]: continuationOf(permitted.next),
        },
      };
    }
    if (kept.some(isLiveSnapshot)) return fail("SnapshotsPresent");
    const isFile = target.directory === undefined;
    const event: DecidedEvent = isFile
      ? { api: "DeleteFile" }
      : { api: "DeleteDirectory", recursive: input.recursive === true };
    return { ...deletePath({ scope, address, target, newETag, upload }), event };
  },
});

function isRecursive(input: object): boolean {
  return "recursive" in input && input.recursive === true;
}

const eachDeleted: DecidedEvent = { api: "PutBlob", of: "each" };

/** What `reads` of Delete Path returns for `decide`. */
interface DeletionReads {
  readonly upload: UploadRecord | undefined;
  /** Whether the path may be deleted as it is: it is no directory, or one without entries. True for
   *  a recursive deletion and on flat accounts. */
  readonly isEmpty: boolean;
  /** What access control lists permit of a recursive deletion; undefined if they do not apply. */
  readonly permitted?: PermittedDeletion;
  /** Generations of the target (blob snapshots, earlier versions and soft-deleted states); none for
   *  a directory of a hierarchical account. */
  readonly kept: readonly Generation[];
  /** The entries below the path that this request deletes; only on flat accounts. */
  readonly below?: FlatEntries;
  /** The directory above, which needs a blob to remain after its last path is deleted
   *  (`dependentParent`); only on flat accounts. */
  readonly parent?: DependentParent | undefined;
}

/** Deletes one portion of a directory of a flat account, where a directory is a common prefix of
 *  blob names. The blob of the directory itself is deleted with the last portion. */
function deleteFlat(context: OverwriteContext, found: DeletionReads, takesEntries: boolean) {
  const { target, features, scope } = context;
  const { entries = [], next } = found.below ?? {};
  if (target === undefined && entries.length === 0) return fail("BlobNotFound");
  if (entries.length > 0 && !takesEntries) {
    return fail("DirectoryNotEmpty", { message: notEmptyText });
  }
  const { upload, kept } = found;
  // The pipeline has compared the lease of this blob with the lease id of the request.
  // `deleteEntries` rejects every leased entry, so it gets this record without the lease.
  const record = target && { ...target, lease: undefined };
  const own = next === undefined && record ? [{ key: blobKey(context), record, upload, kept }] : [];
  const all = [...entries, ...own];
  const deleted = deleteEntries(context, all);
  if (!deleted.ok) return deleted;
  const isSoft = retentionDays(scope.account) !== undefined;
  const isKept = isSoft || all.some((each) => becomesVersion({ target: each.record, features }));
  return {
    event: eachDeleted,
    effects: [...deleted.value, ...(next === undefined ? keepParent(context, found.parent) : [])],
    headers: {
      "x-ms-delete-type-permanent": String(!isKept),
      [continuationHeader]: next === undefined ? undefined : continuationOf(next),
    },
  };
}

/** Whether a path may be deleted without `recursive`, or replaced by a rename: a file, or a
 *  directory without entries. */
export async function isReplaceable(view: RecordView, { directory }: BlobRecord): Promise<boolean> {
  return directory === undefined || isDirectoryEmpty(view, directory);
}
