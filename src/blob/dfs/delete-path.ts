import { noBody } from "../../operation/operation.ts";
import type { RecordView } from "../../operation/view.ts";
import { boolean, query } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { uploads, type BlobRecord, type UploadRecord } from "../records.ts";
import { isHierarchical, operation } from "../resources.ts";
import { becomesVersion, blobKey, type OverwriteContext } from "../shared/overwrite.ts";
import { generationsOf, retentionDays, type Generation } from "../shared/soft-delete.ts";
import { deletePath, deletionHeaderNames, isDirectoryEmpty } from "../tree/delete-path.ts";
import { rootName } from "../tree/find-path.ts";
import { isLiveSnapshot } from "../write/delete-blob.ts";
import { continuation, continuationHeader, continuationOf } from "./continuation.ts";
import { checkTreeDeletion } from "./delete-access.ts";
import { deleteEntries, readEntries, type FlatEntries } from "./flat-directory.ts";

const notEmptyText =
  "The recursive query parameter value must be true to delete a non-empty directory.";

/** Deletes a path, and everything below a directory: in one commit, with reclaim jobs that free the
 *  space later, or on flat accounts in portions (`deleteFlat`).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/delete */
export const deleteAnyPath = operation({
  name: "Delete Path",
  ids: ["Path_Delete"],
  route: { method: "DELETE", resource: "blob" },
  since: "2018-11-09",
  params: {
    recursive: query("recursive", boolean),
    paginated: query("paginated", boolean),
    continuation,
  },
  body: noBody,
  permission: { letters: "d", resourceType: "o", reachesBelow: isRecursive },
  target: "optional",
  conditions: "write",
  lease: "match-if-leased",
  policy: { content: "remove", generations: "current", pendingCopy: "reject", clientKey: "none" },
  etag: "none",
  effect: "writes",
  isDeletion: true,
  success: { status: 200, headers: [...deletionHeaderNames, continuationHeader] },
  reads: async (view, context): Promise<DeletionReads> => {
    const { scope, target, input, aclCaller: caller } = context;
    const upload = await view.get(uploads, blobKey({ scope }));
    const isInTree = isHierarchical(scope);
    const isFile = target !== undefined && target.directory === undefined;
    const kept = isFile || !isInTree ? await generationsOf(view, blobKey({ scope })) : [];
    const found = { upload, kept, isEmpty: true };
    if (!isInTree) return { ...found, below: await readEntries(view, scope, target) };
    if (target === undefined) return found;
    if (input.recursive !== true) return { ...found, isEmpty: await isReplaceable(view, target) };
    if (caller === undefined) return found;
    return { ...found, access: await checkTreeDeletion(view, target, caller) };
  },
  decide: (context) => {
    const { scope, address, target, newETag, input, readResult } = context;
    if (scope.key.name === rootName) return fail("InvalidUri");
    const { below, isEmpty, upload, kept, access = "allowed" } = readResult;
    if (below !== undefined) return deleteFlat(context, readResult, input.recursive === true);
    if (target === undefined) return fail("BlobNotFound");
    if (!isEmpty) return fail("DirectoryNotEmpty", { message: notEmptyText });
    if (access === "denied") return fail("AuthorizationPermissionMismatch");
    if (access === "unknown") return fail("OperationTimedOut");
    if (kept.some(isLiveSnapshot)) return fail("SnapshotsPresent");
    return deletePath({ scope, address, target, newETag, upload });
  },
});

function isRecursive(input: object): boolean {
  return "recursive" in input && input.recursive === true;
}

/** What a deletion depends on besides the target. */
interface DeletionReads {
  readonly upload: UploadRecord | undefined;
  /** Whether the path may be deleted as it is: it is no directory, or one without entries. True for
   *  a recursive deletion and on flat accounts. */
  readonly isEmpty: boolean;
  /** Whether access control lists permit a recursive deletion; undefined if they do not apply. */
  readonly access?: Awaited<ReturnType<typeof checkTreeDeletion>>;
  /** Generations of the target; none for a directory of a hierarchical account. */
  readonly kept: readonly Generation[];
  /** The first entries below the path; only on flat accounts. */
  readonly below?: FlatEntries;
}

/** Deletes one portion of a directory of a flat account. The blob of the directory itself is
 *  deleted with the last portion. */
function deleteFlat(context: OverwriteContext, found: DeletionReads, takesEntries: boolean) {
  const { target, features, scope } = context;
  const { entries = [], next } = found.below ?? {};
  if (target === undefined && entries.length === 0) return fail("BlobNotFound");
  if (entries.length > 0 && !takesEntries) {
    return fail("DirectoryNotEmpty", { message: notEmptyText });
  }
  const { upload, kept } = found;
  // The lease of the addressed blob was checked before.
  const record = target && { ...target, lease: undefined };
  const own = next === undefined && record ? [{ key: blobKey(context), record, upload, kept }] : [];
  const all = [...entries, ...own];
  const deleted = deleteEntries(context, all);
  if (!deleted.ok) return deleted;
  const isSoft = retentionDays(scope.account) !== undefined;
  const isKept = isSoft || all.some((each) => becomesVersion({ target: each.record, features }));
  return {
    effects: deleted.value,
    headers: {
      "x-ms-delete-type-permanent": String(!isKept),
      [continuationHeader]: next === undefined ? undefined : continuationOf(next),
    },
  };
}

/** Whether a path is a file or a directory without entries. */
export async function isReplaceable(view: RecordView, { directory }: BlobRecord): Promise<boolean> {
  return directory === undefined || isDirectoryEmpty(view, directory);
}
