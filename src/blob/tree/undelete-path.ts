import { formatHttpDate } from "../../base/dates.ts";
import { splitPath } from "./paths.ts";
import { periodJob, remove } from "../../operation/effects.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { directoryChange } from "../../protocol/authorise.ts";
import { mayAccess, type AclCaller } from "../../protocol/posix-access.ts";
import type { SameCredentialsResource } from "../../protocol/named-resource.ts";
import type { Param } from "../../protocol/params.ts";
import { fail, ok, type Failure } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Ticks } from "../../base/ticks.ts";
import { blobs, generations, type BlobRecord, type GenerationKey } from "../records.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";
import { generationsOf, isRestorable } from "../shared/overwrite.ts";
import { deletedPathKey, parseDeletionId } from "./delete-path.ts";
import { findPath } from "./find-path.ts";
import { accessOf, resourceType } from "./path-facts.ts";

const sourceHeader = "x-ms-undelete-source";
const sourceForm = /^([^?]*)\?deletionid=(\d+)$/i;

interface UndeleteSource {
  /** As it was called; undefined for the path of the request. */
  readonly path: string | undefined;
  readonly at: Ticks;
}

/** `path?deletionid=132…`, percent-encoded, or without the path. */
export const undeleteSource: Param<UndeleteSource | undefined> = {
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
  try {
    return { path: path === "" ? undefined : decodeURIComponent(path), at };
  } catch {
    return undefined;
  }
}

/** The deleted path that a request names beside its target. It becomes readable under the target's
 *  path, so the credentials must be valid for it, too. */
export const namedDeletedPath: SameCredentialsResource<
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
export async function mayRestoreFrom(
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

/** The deleted state that a request names; without a deletion id the last one of its path. */
export async function findDeletedPath(
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

export const undeleteHeaderNames = ["x-ms-resource-type", "x-ms-creation-time"] as const;

/** Puts a deleted file or directory back, with its ETag and all that is below it. */
export function undeletePath(
  { key: to, missingParents }: ContainerScope,
  target: BlobRecord | undefined,
  deleted: DeletedPath | undefined,
): Failure | ReturnType<typeof restored> {
  if (deleted === undefined || missingParents.length > 0) return fail("BlobNotFound");
  if (target !== undefined) return fail("BlobAlreadyExists");
  return restored(to, deleted);
}

function restored(to: ContainerScope["key"], { key, record }: DeletedPath) {
  const put = { ...record, deleted: undefined };
  return {
    put,
    effects: [remove(generations, key), ...periodJob(blobs, to, put)],
    headers: {
      "x-ms-resource-type": resourceType(record),
      "x-ms-creation-time": formatHttpDate(record.created),
    },
  };
}
