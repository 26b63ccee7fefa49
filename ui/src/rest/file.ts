import { mapped, type Result } from "../result.ts";
import { bodyText, request, sourceAddress } from "./request.ts";
import { childOf, childrenOf, numberOf, parseXml, textOf } from "./xml.ts";

/** Address of a file or directory, optionally in a share snapshot. */
export interface FileAddress {
  readonly account: string;
  readonly share: string;
  readonly path: string;
  readonly snapshot?: string | undefined;
}

export function filePath({ account, share, path }: FileAddress): readonly [string, string, string] {
  return [account, share, path];
}

export function createShare(account: string, name: string): Promise<Result<unknown>> {
  return request("file", [account, name], { method: "PUT", query: { restype: "share" } });
}

/** Deletes a share with its snapshots, or one of its snapshots. */
export function deleteShare(
  account: string,
  { name, snapshot }: { readonly name: string; readonly snapshot: string | undefined },
): Promise<Result<unknown>> {
  return request("file", [account, name], {
    method: "DELETE",
    query: { restype: "share", sharesnapshot: snapshot },
    headers: { "x-ms-delete-snapshots": snapshot === undefined ? "include" : undefined },
  });
}

/** Bytes of the files of a share, as the service counts them. */
export async function getShareUse(
  { account, name }: { readonly account: string; readonly name: string },
  signal?: AbortSignal,
): Promise<Result<number>> {
  const query = { restype: "share", comp: "stats" };
  const answer = await request("file", [account, name], { query, signal });
  return mapped(answer, (stats) => numberOf(parseXml(bodyText(stats)), "ShareUsageBytes") ?? 0);
}

export function snapshotShare(account: string, name: string): Promise<Result<unknown>> {
  const query = { restype: "share", comp: "snapshot" };
  return request("file", [account, name], { method: "PUT", query });
}

export function createFolder(address: FileAddress): Promise<Result<unknown>> {
  const query = { restype: "directory" };
  return request("file", filePath(address), { method: "PUT", query });
}

export function deleteEntry(address: FileAddress, isFolder: boolean): Promise<Result<unknown>> {
  return request("file", filePath(address), {
    method: "DELETE",
    query: { restype: isFolder ? "directory" : undefined },
  });
}

export async function renameEntry(
  address: FileAddress,
  { to, isFolder }: { readonly to: string; readonly isFolder: boolean },
): Promise<Result<unknown>> {
  const source = await sourceAddress(filePath(address));
  if (!source.ok) return source;
  return request("file", [address.account, address.share, to], {
    method: "PUT",
    query: { restype: isFolder ? "directory" : undefined, comp: "rename" },
    headers: {
      "x-ms-file-rename-source": source.value,
      "x-ms-file-rename-replace-if-exists": "false",
    },
  });
}

export async function getFileProperties(
  address: FileAddress,
  signal?: AbortSignal,
): Promise<Result<Headers>> {
  const query = { sharesnapshot: address.snapshot };
  const answer = await request("file", filePath(address), { method: "HEAD", query, signal });
  return mapped(answer, ({ headers }) => headers);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

export async function listRanges(
  address: FileAddress,
  signal?: AbortSignal,
): Promise<Result<readonly Range[]>> {
  const query = { comp: "rangelist", sharesnapshot: address.snapshot };
  const answer = await request("file", filePath(address), { query, signal });
  if (!answer.ok) return answer;
  const ranges = childrenOf(parseXml(bodyText(answer.value)), "Range");
  const read = (one: Element): Range => ({
    start: numberOf(one, "Start") ?? 0,
    end: numberOf(one, "End") ?? 0,
  });
  return { ok: true, value: ranges.map(read) };
}

interface Handle {
  readonly id: string;
  readonly client: string;
  readonly openedAt: string;
  readonly access: string;
}

export async function listHandles(
  address: FileAddress,
  signal?: AbortSignal,
): Promise<Result<readonly Handle[]>> {
  const query = { comp: "listhandles", sharesnapshot: address.snapshot };
  const answer = await request("file", filePath(address), { query, signal });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const handles = childrenOf(childOf(root, "Entries"), "Handle").map((one) => ({
    id: textOf(one, "HandleId") ?? "",
    client: textOf(one, "ClientIp") ?? "",
    openedAt: textOf(one, "OpenTime") ?? "",
    access: childrenOf(childOf(one, "AccessRightList"), "AccessRight")
      .map((right) => right.textContent)
      .join(", "),
  }));
  return { ok: true, value: handles };
}

/** Closes a handle of a file; `*` closes all. */
export function closeHandle(address: FileAddress, handle: string): Promise<Result<unknown>> {
  return request("file", filePath(address), {
    method: "PUT",
    query: { comp: "forceclosehandles" },
    headers: { "x-ms-handle-id": handle },
  });
}

/** The first `bytesMax` bytes of a file. */
export async function readContent(
  address: FileAddress,
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal?: AbortSignal },
): Promise<Result<Uint8Array<ArrayBuffer>>> {
  const answer = await request("file", filePath(address), {
    query: { sharesnapshot: address.snapshot },
    headers: { "x-ms-range": `bytes=0-${bytesMax - 1}` },
    signal,
  });
  if (answer.ok) return { ok: true, value: new Uint8Array(answer.value.body) };
  // A range of an empty file is not satisfiable (416).
  return answer.failure.status === 416 ? { ok: true, value: new Uint8Array() } : answer;
}
