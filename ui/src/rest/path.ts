import { mapped, type Result } from "../result.ts";
import { conditionHeaders, type Condition } from "./blob.ts";
import { bodyText, request, type Answer } from "./request.ts";

/** A file or directory of a hierarchical account; the root directory has an empty path. */
export interface PathAddress {
  readonly account: string;
  readonly container: string;
  readonly path: string;
}

function pathOf({ account, container, path }: PathAddress): readonly [string, string, string] {
  return [account, container, path];
}

export function createDirectory(address: PathAddress): Promise<Result<unknown>> {
  return request("dfs", pathOf(address), {
    method: "PUT",
    query: { resource: "directory" },
    headers: { "if-none-match": "*" },
  });
}

interface Renaming {
  readonly to: PathAddress;
  readonly sourceEtag: string;
  readonly sourceLeaseId?: string | undefined;
  /** Of the destination. */
  readonly condition: Condition;
}

export function renamePath(from: PathAddress, renaming: Renaming): Promise<Result<unknown>> {
  const source = [from.container, ...from.path.split("/")].map(encodeURIComponent).join("/");
  return request("dfs", pathOf(renaming.to), {
    method: "PUT",
    // The other mode would move into a directory that exists at the destination.
    query: { mode: "legacy" },
    headers: {
      "x-ms-rename-source": `/${source}`,
      "x-ms-source-if-match": renaming.sourceEtag || undefined,
      "x-ms-source-lease-id": renaming.sourceLeaseId,
      ...conditionHeaders(renaming.condition),
    },
  });
}

/** Deletes a directory with everything below it; the server may need several requests. */
export async function deleteDirectory(
  address: PathAddress,
  condition: Condition,
): Promise<Result<unknown>> {
  let continuation: string | undefined;
  for (;;) {
    const answer = await request("dfs", pathOf(address), {
      method: "DELETE",
      query: { recursive: true, continuation },
      headers: conditionHeaders(condition),
    });
    if (!answer.ok) return answer;
    continuation = answer.value.headers.get("x-ms-continuation") ?? undefined;
    if (continuation === undefined) return answer;
  }
}

export interface PathState {
  readonly etag: string;
  readonly lastModified: string;
  readonly headers: Headers;
}

function readState({ headers }: Answer): PathState {
  const text = (name: string): string => headers.get(name) ?? "";
  return { etag: text("etag"), lastModified: text("last-modified"), headers };
}

export async function getPathState(
  address: PathAddress,
  signal?: AbortSignal,
): Promise<Result<PathState>> {
  return mapped(await request("dfs", pathOf(address), { method: "HEAD", signal }), readState);
}

export interface AccessControl {
  readonly etag: string;
  readonly owner: string;
  readonly group: string;
  /** `rwxr-x---`, with `t` or `T` for the sticky bit and `+` if there are further entries. */
  readonly permissions: string;
  readonly acl: string;
}

export async function getAccessControl(
  address: PathAddress,
  signal?: AbortSignal,
): Promise<Result<AccessControl>> {
  const query = { action: "getAccessControl" };
  const answer = await request("dfs", pathOf(address), { method: "HEAD", query, signal });
  return mapped(answer, ({ headers }) => ({
    etag: headers.get("etag") ?? "",
    owner: headers.get("x-ms-owner") ?? "",
    group: headers.get("x-ms-group") ?? "",
    permissions: headers.get("x-ms-permissions") ?? "",
    acl: headers.get("x-ms-acl") ?? "",
  }));
}

/** Permissions and list exclude each other. */
export type AccessChange =
  | { readonly owner: string; readonly group: string; readonly permissions?: string | undefined }
  | { readonly acl: string };

export function setAccessControl(
  address: PathAddress,
  change: AccessChange,
  condition: Condition,
): Promise<Result<unknown>> {
  const headers =
    "acl" in change
      ? { "x-ms-acl": change.acl }
      : {
          "x-ms-owner": change.owner,
          "x-ms-group": change.group,
          "x-ms-permissions": change.permissions,
        };
  return request("dfs", pathOf(address), {
    method: "PATCH",
    query: { action: "setAccessControl" },
    headers: { ...headers, ...conditionHeaders(condition) },
  });
}

export type RecursiveMode = "set" | "modify" | "remove";

interface RecursivePage {
  readonly directories: number;
  readonly files: number;
  readonly failed: readonly string[];
  /** Undefined after the last page. */
  readonly next: string | undefined;
}

interface RecursiveReply {
  readonly directoriesSuccessful: number;
  readonly filesSuccessful: number;
  readonly failedEntries?: readonly { readonly name: string }[];
}

const recordsPerPage = 500;

/** One page of a recursive change; `next` continues it. */
export async function setAccessBelow(
  address: PathAddress,
  { mode, acl }: { readonly mode: RecursiveMode; readonly acl: string },
  { continuation, signal }: { continuation: string | undefined; signal: AbortSignal },
): Promise<Result<RecursivePage>> {
  const answer = await request("dfs", pathOf(address), {
    method: "PATCH",
    query: {
      action: "setAccessControlRecursive",
      mode,
      maxRecords: recordsPerPage,
      forceFlag: true,
      continuation,
    },
    headers: { "x-ms-acl": acl },
    signal,
  });
  return mapped(answer, (value) => {
    const reply = JSON.parse(bodyText(value)) as RecursiveReply;
    return {
      directories: reply.directoriesSuccessful,
      files: reply.filesSuccessful,
      failed: (reply.failedEntries ?? []).map(({ name }) => name),
      next: value.headers.get("x-ms-continuation") ?? undefined,
    };
  });
}
