import { put } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { boolean, integer, oneOf, query, required, type Param } from "../../protocol/params.ts";
import {
  parseAcl,
  parseAclNames,
  type AclEntry,
  type AclName,
  type PosixAccess,
} from "../../protocol/posix-acl.ts";
import { modifyAcl, removeAcl, setAcl } from "../../protocol/posix-acl-changes.ts";
import { faultMessage } from "../../protocol/faults.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import { blobs, type BlobRecord } from "../records.ts";
import { operation, type ContainerScope } from "../resources.ts";
import { continuation, continuationHeader, continuationOf } from "./continuation.ts";
import { walkPaths, type WalkedPath } from "./path-walk.ts";
import { accessOf, resourceType } from "../tree/path-facts.ts";

/** Paths that one request changes; more are left to the next. */
const recordsMax = 2000;

const modes = ["set", "modify", "remove"] as const;
const mode = required(query("mode", oneOf(...modes)));

type Change = (access: PosixAccess, entries: readonly AclEntry[]) => PosixAccess | undefined;

const changes: Readonly<Record<(typeof modes)[number], Change>> = {
  set: (access, entries) => setAcl(access, entries),
  modify: modifyAcl,
  remove: (access, names: readonly AclName[]) => removeAcl(access, names),
};

/** To remove entries, they are named without permissions. */
const entries: Param<readonly AclEntry[]> = {
  sources: ["x-ms-acl"],
  parse: (reader) => {
    const text = reader.header("x-ms-acl") ?? "";
    const isRemoval = reader.query("mode")?.toLowerCase() === "remove";
    const names = isRemoval
      ? parseAclNames(text)?.map((name) => ({ ...name, bits: 0 }))
      : undefined;
    const parsed = isRemoval ? names : parseAcl(text);
    return parsed === undefined ? fail("InvaldAccessControlList") : ok(parsed);
  },
};

/** Changes the lists of a directory and of everything below it, in portions. Each is one
 *  transaction; the token names the next path.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/update */
export const setAccessControlRecursive = operation({
  name: "Set Access Control Recursive",
  ids: ["Path_SetAccessControlRecursive", "Path_Update"],
  route: { method: "PATCH", resource: "blob", query: { action: "setAccessControlRecursive" } },
  since: "2018-11-09",
  params: {
    mode,
    entries,
    maxRecords: query("maxRecords", integer(1, Number.MAX_SAFE_INTEGER)),
    continuation,
    forced: query("forceFlag", boolean),
  },
  body: noBody,
  permission: { letters: "po", resourceType: "o", posix: {} },
  namespace: "hierarchical",
  target: "must-exist",
  conditions: "none",
  lease: "none",
  policy: { content: "none", generations: "current", pendingCopy: "allow", clientKey: "none" },
  etag: "none",
  effect: "writes",
  success: { status: 200, headers: ["x-ms-namespace-enabled", continuationHeader] },
  reads: (view, { scope, address, target, input }) => {
    const limit = Math.min(input.maxRecords ?? recordsMax, recordsMax);
    return pathsFrom(view, { scope, path: address.blob, target }, input.continuation, limit);
  },
  decide: ({ input, readResult, aclCaller }) => {
    const change = changes[input.mode];
    const { allowed, refused } = splitByOwner(
      readResult.paths,
      aclCaller?.objectId,
      input.forced === true,
    );
    const changed = allowed.map((path) => changePath(path, change, input.entries));
    const done = changed.filter((each) => each !== undefined);
    if (done.length < changed.length) return fail("InvaldAccessControlList");
    const directories = done.filter(({ record }) => resourceType(record) === "directory").length;
    const result = {
      directoriesSuccessful: directories,
      failedEntries: refused.map(failedEntry),
      failureCount: refused.length,
      filesSuccessful: done.length - directories,
    };
    const hasStopped = refused.length > 0 && input.forced !== true;
    const next = hasStopped ? refused[0]?.path : readResult.next;
    return {
      effects: done.map(({ key, record }) => put(blobs, key, record)),
      headers: {
        "x-ms-namespace-enabled": "true",
        [continuationHeader]: next === undefined ? undefined : continuationOf(next),
      },
      body: { type: "application/json; charset=utf-8", text: `${JSON.stringify(result)}\n` },
    };
  },
});

const refusedText = faultMessage({ code: "AuthorizationPermissionMismatch" });

function failedEntry({ path, record }: WalkedPath) {
  return { errorMessage: refusedText, name: path, type: resourceType(record).toUpperCase() };
}

/** Only the owner of a path changes its list; keys and signatures bypass that. Without `forced` the
 *  first refusal is the last path. */
function splitByOwner(paths: readonly WalkedPath[], callerId: string | undefined, forced: boolean) {
  const isOwn = ({ record }: WalkedPath) => callerId === accessOf(record).owner;
  if (callerId === undefined) return { allowed: paths, refused: [] };
  const first = paths.findIndex((path) => !isOwn(path));
  if (first >= 0 && !forced) {
    return { allowed: paths.slice(0, first), refused: paths.slice(first, first + 1) };
  }
  return { allowed: paths.filter(isOwn), refused: paths.filter((path) => !isOwn(path)) };
}

interface Start {
  readonly scope: ContainerScope;
  readonly path: string;
  readonly target: BlobRecord;
}

/** The directory itself comes first. */
async function pathsFrom(
  view: RecordView,
  { scope, path, target }: Start,
  from: string | undefined,
  limit: number,
) {
  const own: WalkedPath[] = from === undefined ? [{ path, key: scope.key, record: target }] : [];
  if (target.directory === undefined) return { paths: own, next: undefined };
  const { paths, next } = await walkPaths(view, {
    root: target.directory,
    rootPath: path,
    recursive: true,
    from: from === undefined ? "" : below(path, from),
    limit: limit - own.length,
  });
  return { paths: [...own, ...paths], next };
}

/** A path relative to a directory that it is in. */
function below(directory: string, path: string): string {
  return directory === "" ? path : path.slice(directory.length + 1);
}

/** Default entries pass files by. */
function changePath(
  { path, key, record }: WalkedPath,
  change: Change,
  given: readonly AclEntry[],
): WalkedPath | undefined {
  const isFile = resourceType(record) === "file";
  const fitting = isFile ? given.filter(({ scope }) => scope === "access") : given;
  if (fitting.length === 0) return { path, key, record };
  const posix = change(accessOf(record), fitting);
  return posix && { path, key, record: { ...record, posix } };
}
