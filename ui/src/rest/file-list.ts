import type { Result } from "../result.ts";
import type { ListingOptions, Page } from "./container.ts";
import { request, bodyText } from "./request.ts";
import { childOf, childrenOf, nameOf, numberOf, parseXml, textOf } from "./xml.ts";

export interface Share {
  readonly name: string;
  readonly snapshot: string | undefined;
  readonly quotaGib: number | undefined;
  readonly lastModified: string;
  readonly leaseState: string;
}

export async function listShares(
  account: string,
  { prefix, marker, signal }: ListingOptions,
): Promise<Result<Page<Share>>> {
  const query = { comp: "list", include: "snapshots", prefix: prefix || undefined, marker };
  const answer = await request("file", [account], { query, signal });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const rows = childrenOf(childOf(root, "Shares"), "Share").map((one) => {
    const properties = childOf(one, "Properties");
    return {
      name: nameOf(one),
      snapshot: textOf(one, "Snapshot"),
      quotaGib: numberOf(properties, "Quota"),
      lastModified: textOf(properties, "Last-Modified") ?? "",
      leaseState: textOf(properties, "LeaseState") ?? "",
    };
  });
  return { ok: true, value: { rows, next: textOf(root, "NextMarker") || undefined } };
}

export interface FileEntry {
  readonly kind: "file" | "folder";
  readonly name: string;
  readonly id: string;
  readonly etag: string;
  readonly length: number | undefined;
  readonly lastWriteAt: string;
}

/** A directory of a share; its path has no slash at either end. */
export interface FolderAddress {
  readonly account: string;
  readonly share: string;
  readonly folder: string;
  readonly snapshot?: string | undefined;
}

function folderPath({ account, share, folder }: FolderAddress): readonly [string, string] {
  return [account, folder === "" ? share : `${share}/${folder}`];
}

const pageRows = 1000;

export async function listFolder(
  address: FolderAddress,
  { prefix, marker }: { readonly prefix: string; readonly marker: string | undefined },
): Promise<Result<Page<FileEntry>>> {
  const answer = await request("file", folderPath(address), {
    query: {
      restype: "directory",
      comp: "list",
      include: "Timestamps,ETag",
      sharesnapshot: address.snapshot,
      prefix: prefix || undefined,
      marker,
      maxresults: pageRows,
    },
    headers: { "x-ms-file-extended-info": "true" },
  });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const entries = childOf(root, "Entries");
  const rows = [...(entries?.children ?? [])].map(readEntry);
  return { ok: true, value: { rows, next: textOf(root, "NextMarker") || undefined } };
}

function readEntry(element: Element): FileEntry {
  const properties = childOf(element, "Properties");
  const isFolder = element.tagName === "Directory";
  return {
    kind: isFolder ? "folder" : "file",
    name: nameOf(element),
    id: textOf(element, "FileId") ?? "",
    etag: textOf(properties, "Etag") ?? "",
    length: isFolder ? undefined : numberOf(properties, "Content-Length"),
    lastWriteAt: textOf(properties, "LastWriteTime") ?? textOf(properties, "Last-Modified") ?? "",
  };
}
