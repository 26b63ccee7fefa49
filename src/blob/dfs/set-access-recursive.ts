import { put } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { boolean, integer, oneOf, query, required, type Param } from "../../protocol/params.ts";
import {
  find,
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

/** Most paths that one request changes; the continuation token lets the client change the rest. */
const recordsMax = 2000;

const modes = ["set", "modify", "remove"] as const;
const mode = required(query("mode", oneOf(...modes)));

type Change = (access: PosixAccess, entries: readonly AclEntry[]) => PosixAccess | undefined;

const changes: Readonly<Record<(typeof modes)[number], Change>> = {
  set: (access, entries) => setAcl(access, entries),
  modify: modifyAcl,
  remove: (access, names: readonly AclName[]) => removeAcl(access, names),
};

/** `x-ms-acl`: the entries to set. In the mode `remove` they are named without permissions. */
const entries: Param<readonly AclEntry[]> = {
  sources: ["x-ms-acl"],
  parse: (reader) => {
    const text = reader.header("x-ms-acl") ?? "";
    const isRemoval = reader.query("mode")?.toLowerCase() === "remove";
    const names = isRemoval
      ? parseAclNames(text)?.map((name) => ({ ...name, bits: 0 }))
      : undefined;
    const parsed = isRemoval ? names : parseAcl(text);
    if (parsed === undefined) return fail("InvaldAccessControlList");
    const isSet = reader.query("mode")?.toLowerCase() === "set";
    return isSet && !hasBaseEntries(parsed) ? fail("SetAclMissingAces") : ok(parsed);
  },
};

/** Whether the access entries of owner, owning group and other are given. A recursive change that
 *  replaces lists needs them, although Set Access Control keeps those that are not given.
 *  github.com/Azure/azure-cli/issues/16792 */
function hasBaseEntries(given: readonly AclEntry[]): boolean {
  return (["user", "group", "other"] as const).every((type) => find(given, "access", type));
}

/** Changes the access control lists of a directory and of everything below it, in several requests.
 *  Each request is one transaction; the token in its response names the next path.
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
  permission: { letters: "po", resourceType: "o", posix: {}, reachesBelow: () => true },
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
    const { allowed, rejected } = splitByOwner(
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
      failedEntries: rejected.map(failedEntry),
      failureCount: rejected.length,
      filesSuccessful: done.length - directories,
    };
    const hasStopped = rejected.length > 0 && input.forced !== true;
    const next = hasStopped ? rejected[0]?.path : readResult.next;
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

const rejectedText = faultMessage({ code: "AuthorizationPermissionMismatch" });

function failedEntry({ path, record }: WalkedPath) {
  return { errorMessage: rejectedText, name: path, type: resourceType(record).toUpperCase() };
}

/** Which paths the caller may change: only the owner may, except for callers to whom lists do not
 *  apply. Without `forced`, the first path that is not allowed ends the request. */
function splitByOwner(paths: readonly WalkedPath[], callerId: string | undefined, forced: boolean) {
  const isOwn = ({ record }: WalkedPath) => callerId === accessOf(record).owner;
  if (callerId === undefined) return { allowed: paths, rejected: [] };
  const first = paths.findIndex((path) => !isOwn(path));
  if (first >= 0 && !forced) {
    return { allowed: paths.slice(0, first), rejected: paths.slice(first, first + 1) };
  }
  return { allowed: paths.filter(isOwn), rejected: paths.filter((path) => !isOwn(path)) };
}

/** The directory at which the change starts. */
interface Start {
  readonly scope: ContainerScope;
  readonly path: string;
  readonly target: BlobRecord;
}

/** The paths to change: first the directory itself, then those below it. */
async function pathsFrom(
  view: RecordView,
  { scope, path, target }: Start,
  from: string | undefined,
  limit: number,
) {
  const first: WalkedPath[] = from === undefined ? [{ path, key: scope.key, record: target }] : [];
  if (target.directory === undefined) return { paths: first, next: undefined };
  const { paths, next } = await walkPaths(view, {
    root: target.directory,
    rootPath: path,
    recursive: true,
    from: from === undefined ? "" : relativePath(path, from),
    limit: limit - first.length,
  });
  return { paths: [...first, ...paths], next };
}

/** The path relative to a directory that it is in. */
function relativePath(directory: string, path: string): string {
  return directory === "" ? path : path.slice(directory.length + 1);
}

/** Changes the list of one path; undefined if the new list is invalid. Default entries are not
 *  applied to files. */
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
