import { put } from "../../../operation/effects.ts";
import { boolean, integer, oneOf, query, required, type Param } from "../../../protocol/params.ts";
import {
  find,
  modifyAcl,
  parseAcl,
  parseAclNames,
  removeAcl,
  setAcl,
  type AclEntry,
  type AclName,
  type PosixAccess,
} from "../../../protocol/posix-acl.ts";
import type { AclCaller } from "../../../protocol/posix-access.ts";
import { faultMessage } from "../../../protocol/faults.ts";
import { fail, ok } from "../../../protocol/result.ts";
import type { RecordView } from "../../../operation/view.ts";
import { blobs, type BlobRecord } from "../../records.ts";
import { pathOperation, type ContainerScope } from "../../resources.ts";
import { anyContinuation, continuationHeader, continuationOf } from "../continuation.ts";
import { mayEnter, mayList } from "../../tree/list-access.ts";
import { walkPaths, type WalkedPage, type WalkedPath } from "../path-walk.ts";
import { accessOf, resourceType } from "../../tree/find-path.ts";
import { blobRead } from "../../blob-policy.ts";

/** Set Access Control Recursive: changes the access control lists of a directory and of everything
 *  below it. */

/** Most paths that one request changes, so that its transaction stays short; the continuation token
 *  lets the client change the rest. */
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
export const setAccessControlRecursive = pathOperation({
  name: "Set Access Control Recursive",
  ids: ["Path_SetAccessControlRecursive", "Path_Update"],
  route: { method: "PATCH", resource: "blob", query: { action: "setAccessControlRecursive" } },
  params: {
    mode,
    entries,
    maxRecords: query("maxRecords", integer(1, Number.MAX_SAFE_INTEGER)),
    continuation: anyContinuation,
    forced: query("forceFlag", boolean),
  },
  permission: { letters: "po", resourceType: "o", posix: {}, reachesBelow: () => true },
  namespace: "hierarchical",
  target: "must-exist",
  conditions: "none",
  lease: "none",
  policy: { ...blobRead.policy, generations: "current", clientKey: "none" },
  etag: "none",
  reads: (view, { scope, address, target, input, aclCaller: caller }) => {
    const limit = Math.min(input.maxRecords ?? recordsMax, recordsMax);
    const start = { scope, path: address.blob, target, caller };
    return pathsFrom(view, start, input.continuation, limit);
  },
  decide: ({ input, readResult, aclCaller }) => {
    if (readResult.isDenied === true) return fail("AuthorizationPermissionMismatch");
    const change = changes[input.mode];
    const isForced = input.forced === true;
    const { allowed, rejected } = splitByAccess(readResult.paths, aclCaller, isForced);
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
    // No token after a rejected path: the client would continue with the same path for ever.
    const next = rejected.length > 0 && !isForced ? undefined : readResult.next;
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

/** Divides paths into those that the caller may change and the rejected ones. Only the owner may
 *  change a path, except for callers to whom access control lists do not apply. A directory whose
 *  entries the caller may not list is rejected, because they are not changed. Without `isForced`,
 *  the first rejected path ends the request. */
function splitByAccess(
  paths: readonly WalkedPath[],
  caller: AclCaller | undefined,
  isForced: boolean,
) {
  if (caller === undefined) return { allowed: paths, rejected: [] };
  const isAllowed = ({ record }: WalkedPath) =>
    caller.objectId === accessOf(record).owner && mayEnter(record, caller);
  const first = paths.findIndex((path) => !isAllowed(path));
  if (first >= 0 && !isForced) {
    return { allowed: paths.slice(0, first), rejected: paths.slice(first, first + 1) };
  }
  return { allowed: paths.filter(isAllowed), rejected: paths.filter((path) => !isAllowed(path)) };
}

/** Where the recursive change starts, and the caller if access control lists limit it. */
interface Start {
  readonly scope: ContainerScope;
  readonly path: string;
  readonly target: BlobRecord;
  readonly caller: AclCaller | undefined;
}

/** The paths that one request of a recursive change reads and changes. */
interface Portion extends WalkedPage {
  /** Whether the continuation token leads into a directory that the caller may not list. */
  readonly isDenied?: boolean;
}

/** Reads the paths to change: first the directory itself, then those below it. A caller whom access
 *  control lists limit gets to know no path that a listing would not show. */
async function pathsFrom(
  view: RecordView,
  { scope, path: directory, target, caller }: Start,
  token: { readonly path: string | undefined } | undefined,
  limit: number,
): Promise<Portion> {
  const from = token?.path;
  const first = token === undefined ? [{ path: directory, key: scope.key, record: target }] : [];
  const prefix = directory === "" ? "" : `${directory}/`;
  if (token !== undefined && from?.startsWith(prefix) !== true) return nothing;
  if (target.directory === undefined) return { paths: first, next: undefined };
  if (caller !== undefined && !mayEnter(target, caller)) {
    return token === undefined ? { paths: first, next: undefined } : denied;
  }
  const listing = { container: scope.container.id, directory, from };
  if (caller !== undefined && !(await mayList(view, listing, caller))) return denied;
  const { paths, next } = await walkPaths(view, {
    root: target.directory,
    rootPath: directory,
    recursive: true,
    from: from === undefined ? "" : from.slice(prefix.length),
    limit: limit - first.length,
    ...(caller && { mayEnter: (record) => mayEnter(record, caller) }),
  });
  return { paths: [...first, ...paths], next };
}

const nothing: Portion = { paths: [], next: undefined };
const denied: Portion = { ...nothing, isDenied: true };

/** Changes the access control list of one path; undefined if the new list is invalid. Default
 *  entries are left out for files, which have none. */
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
