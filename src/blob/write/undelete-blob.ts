import { formatHttpDate } from "../../base/dates.ts";
import { splitPath, findPath, accessOf, resourceType } from "../tree/find-path.ts";
import { periodJob, remove, put, type Effect } from "../../operation/effects.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { directoryChange } from "../../protocol/authorise.ts";
import { mayAccess, type AclCaller } from "../../protocol/posix-access.ts";
import type { SameCredentialsResource } from "../../protocol/named-resource.ts";
import type { Param } from "../../protocol/params.ts";
import { fail, ok, type Failure } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Ticks } from "../../base/ticks.ts";
import { blobs, generations, type BlobRecord, type GenerationKey } from "../records.ts";
import { isHierarchical, operation, type BlobAddress, type ContainerScope } from "../resources.ts";
import { generationsOf, isRestorable, blobKey, type Generation } from "../shared/overwrite.ts";
import { deletedPathKey, parseDeletionId } from "../tree/move-path.ts";
import { noETag } from "../../operation/operation.ts";
import { blobChange } from "../blob-policy.ts";
import { decodePercent } from "../../protocol/names.ts";

/** Undelete Blob: restores what soft delete has kept. On a flat account a blob with its snapshots,
 *  on a hierarchical one a single deleted path. */

const sourceHeader = "x-ms-undelete-source";
const sourceForm = /^([^?]*)\?deletionid=(\d+)$/i;

interface UndeleteSource {
  /** The path before the deletion; undefined: the path of the request. */
  readonly path: string | undefined;
  /** The deletion id: when the path was deleted. */
  readonly at: Ticks;
}

/** `x-ms-undelete-source`, on hierarchical accounts: which deleted state to restore, of several
 *  with one path. Its form is `path?deletionid=132…`, percent-encoded, or without the path. */
const undeleteSource: Param<UndeleteSource | undefined> = {
  sources: [sourceHeader],
  parse: (reader) => {
    const text = reader.header(sourceHeader);
    if (text === undefined || text === "") return ok(undefined);
    const source = parseSource(text);
    return source === undefined ? invalidHeader(sourceHeader, text) : ok(source);
  },
};

function parseSource(text: string): UndeleteSource | undefined {
  const [, path = "", id = ""] = sourceForm.exec(text) ?? [];
  const at = parseDeletionId(id);
  if (at === undefined) return undefined;
  if (path === "") return { path: undefined, at };
  const decoded = decodePercent(path);
  return decoded === undefined ? undefined : { path: decoded, at };
}

/** The deleted path that a request names beside its target. It becomes readable under the target's
 *  path, so the credentials must be valid for it, too. */
const namedDeletedPath: SameCredentialsResource<
  BlobAddress,
  { readonly source: UndeleteSource | undefined }
> = {
  kind: "same-credentials",
  parameter: sourceHeader,
  permission: { letters: "w", resourceType: "o" },
  resourceOf: ({ container }, { source }) => {
    if (source?.path === undefined) return undefined;
    return { name: container, path: splitPath(source.path).join("/") };
  },
};

interface DeletedPath {
  readonly key: GenerationKey;
  readonly record: BlobRecord;
}

/** Whether access control lists permit a caller to restore a path from where it was deleted: the
 *  same as renaming it from there. A directory that does not exist any more permits nothing. */
async function mayRestoreFrom(
  view: RecordView,
  { container }: ContainerScope,
  path: string,
  caller: AclCaller,
): Promise<boolean> {
  const { ancestors, missingParents } = await findPath(view, container.id, path);
  if (missingParents.length > 0) return false;
  const access = { ancestors: ancestors.map(accessOf), target: undefined };
  return mayAccess(access, caller, directoryChange);
}

/** The soft-deleted state that a request names; without a deletion id the last one of its path. */
async function findDeletedPath(
  view: RecordView,
  scope: ContainerScope,
  address: BlobAddress,
  source: UndeleteSource | undefined,
): Promise<DeletedPath | undefined> {
  const path = source?.path ?? address.blob;
  const key = deletedPathKey(scope, path, source?.at ?? 0n);
  if (source === undefined) {
    const kept = await generationsOf(view, key);
    const found = kept.findLast((each) => each.key.kind === "deleted");
    return found !== undefined && isRestorable(found.record, view.now) ? found : undefined;
  }
  const record = await view.get(generations, key);
  return record !== undefined && isRestorable(record, view.now) ? { key, record } : undefined;
}

/** The reply that restores a deleted file or directory with its ETag. What is below a directory is
 *  restored with it, because it is keyed by the id of the directory. */
function undeletePath(
  { key: to, missingParents }: ContainerScope,
  target: BlobRecord | undefined,
  deleted: DeletedPath | undefined,
): Failure | ReturnType<typeof restored> {
  if (deleted === undefined || missingParents.length > 0) return fail("BlobNotFound");
  if (target !== undefined) return fail("BlobAlreadyExists");
  return restored(to, deleted);
}

function restored(to: ContainerScope["key"], { key, record }: DeletedPath) {
  const live = { ...record, deleted: undefined };
  return {
    put: live,
    effects: [remove(generations, key), ...periodJob(blobs, to, live)],
    headers: {
      "x-ms-resource-type": resourceType(record),
      "x-ms-creation-time": formatHttpDate(record.created),
    },
  };
}

/** Restores a soft-deleted blob and all its soft-deleted snapshots and versions; on a hierarchical
 *  account one path. The ETag does not change.
 *  learn.microsoft.com/rest/api/storageservices/undelete-blob */
export const undeleteBlob = operation({
  name: "Undelete Blob",
  ids: ["Blob_Undelete"],
  route: { method: "PUT", resource: "blob", query: { comp: "undelete" } },
  since: "2017-07-29",
  params: { source: undeleteSource },
  namedResources: [namedDeletedPath],
  permission: { letters: "w", resourceType: "o" },
  target: "optional",
  ...noETag,
  policy: { ...blobChange.policy, content: "none", clientKey: "none", event: "UndeleteBlob" },
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

/** The effects that restore a state under its old key. If a new blob has the name, the state is
 *  restored as a snapshot. */
function restoreGeneration({ key, record }: Generation): readonly Effect[] {
  const alive = { ...record, deleted: undefined };
  if (key.kind !== "deleted") return [put(generations, key, alive)];
  const at = record.deleted?.at ?? key.at;
  const snapshot = put(generations, { ...key, at, kind: "snapshot" }, { ...alive, snapshot: at });
  return [snapshot, remove(generations, key)];
}
