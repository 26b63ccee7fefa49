import { put, remove, type Effect } from "../../operation/effects.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { generations } from "../records.ts";
import { isHierarchical, operation } from "../resources.ts";
import {
  findDeletedPath,
  mayRestoreFrom,
  namedDeletedPath,
  undeleteHeaderNames,
  undeletePath,
  undeleteSource,
} from "../tree/undelete-path.ts";
import { blobKey, generationsOf, isRestorable, type Generation } from "../shared/overwrite.ts";

/** Restores a soft-deleted blob and all its soft-deleted snapshots and versions. The ETag does not
 *  change. learn.microsoft.com/rest/api/storageservices/undelete-blob */
export const undeleteBlob = operation({
  name: "Undelete Blob",
  ids: ["Blob_Undelete"],
  route: { method: "PUT", resource: "blob", query: { comp: "undelete" } },
  since: "2017-07-29",
  params: { source: undeleteSource },
  body: noBody,
  namedResources: [namedDeletedPath],
  permission: { letters: "w", resourceType: "o" },
  target: "optional",
  ...noETag,
  effect: "writes",
  policy: {
    content: "none",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    event: "UndeleteBlob",
  },
  success: { status: 200, headers: undeleteHeaderNames },
  reads: async (view, { scope, address, input, aclCaller }) => {
    if (!isHierarchical(scope)) return { kept: await generationsOf(view, blobKey({ scope })) };
    const path = await findDeletedPath(view, scope, address, input.source);
    const from = input.source?.path;
    const isDenied =
      aclCaller !== undefined &&
      from !== undefined &&
      !(await mayRestoreFrom(view, scope, from, aclCaller));
    return { kept: [], path, isDenied };
  },
  decide: ({ target, scope, readResult, now }) => {
    if (readResult.isDenied === true) return fail("AuthorizationPermissionMismatch");
    if (isHierarchical(scope)) return undeletePath(scope, target, readResult.path);
    const waiting = readResult.kept.filter(({ record }) => isRestorable(record, now));
    const known = readResult.kept.some(({ record }) => record.deleted === undefined);
    if (target === undefined && waiting.length === 0 && !known) return fail("BlobNotFound");
    const last = waiting.findLast(({ key }) => key.kind === "deleted");
    const root = target === undefined ? last : undefined;
    const others = waiting.filter((each) => each !== root).flatMap(restoreGeneration);
    if (root === undefined) return { effects: others };
    const record = { ...root.record, deleted: undefined };
    return { put: record, effects: [...others, remove(generations, root.key)] };
  },
});

/** The effects that restore a state under its old key. A blob whose name is used again meanwhile is
 *  restored as a snapshot. */
function restoreGeneration({ key, record }: Generation): readonly Effect[] {
  const alive = { ...record, deleted: undefined };
  if (key.kind !== "deleted") return [put(generations, key, alive)];
  const at = record.deleted?.at ?? key.at;
  const snapshot = put(generations, { ...key, at, kind: "snapshot" }, { ...alive, snapshot: at });
  return [snapshot, remove(generations, key)];
}
