import { mapped, type Result } from "../result.ts";
import { metadataHeaders } from "./blob.ts";
import { request, bodyText } from "./request.ts";
import { childOf, childrenOf, nameOf, pairsOf, parseXml, textOf } from "./xml.ts";

/** One page of a list; `next` is the marker of the next page, undefined at the end. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | undefined;
}

export interface Container {
  readonly name: string;
  readonly etag: string;
  readonly lastModified: string;
  readonly leaseState: string;
  readonly publicAccess: string;
  readonly version: string | undefined;
  readonly isDeleted: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ListingOptions {
  readonly prefix: string;
  readonly marker: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly withDeleted?: boolean;
}

export async function listContainers(
  account: string,
  { prefix, marker, signal, withDeleted = false }: ListingOptions,
): Promise<Result<Page<Container>>> {
  const include = withDeleted ? "metadata,deleted" : "metadata";
  const answer = await request("blob", [account], {
    query: { comp: "list", prefix: prefix || undefined, marker, include, maxresults: 1000 },
    signal,
  });
  if (!answer.ok) return answer;
  const root = parseXml(bodyText(answer.value));
  const rows = childrenOf(childOf(root, "Containers"), "Container").map(readContainer);
  return { ok: true, value: { rows, next: textOf(root, "NextMarker") || undefined } };
}

function readContainer(element: Element): Container {
  const properties = childOf(element, "Properties");
  return {
    name: nameOf(element),
    etag: textOf(properties, "Etag") ?? "",
    lastModified: textOf(properties, "Last-Modified") ?? "",
    leaseState: textOf(properties, "LeaseState") ?? "",
    publicAccess: textOf(properties, "PublicAccess") ?? "",
    version: textOf(element, "Version"),
    isDeleted: textOf(element, "Deleted") === "true",
    metadata: pairsOf(childOf(element, "Metadata")),
  };
}

export async function getContainer(
  account: string,
  name: string,
  signal?: AbortSignal,
): Promise<Result<Headers>> {
  const query = { restype: "container" };
  const answer = await request("blob", [account, name], { method: "HEAD", query, signal });
  return mapped(answer, ({ headers }) => headers);
}

export function setContainerMetadata(
  { account, name }: { readonly account: string; readonly name: string },
  metadata: Readonly<Record<string, string>>,
  unmodifiedSince: string,
): Promise<Result<unknown>> {
  return request("blob", [account, name], {
    method: "PUT",
    query: { restype: "container", comp: "metadata" },
    headers: { ...metadataHeaders(metadata), "if-unmodified-since": unmodifiedSince },
  });
}

/** Who may read a container without a signature. */
export const accessLevels = [
  ["none", "No anonymous access"],
  ["blob", "Blobs can be read anonymously"],
  ["container", "Blobs can be listed and read anonymously"],
] as const;

export function createContainer(
  account: string,
  name: string,
  accessLevel = "none",
): Promise<Result<unknown>> {
  return request("blob", [account, name], {
    method: "PUT",
    query: { restype: "container" },
    headers: { "x-ms-blob-public-access": accessLevel === "none" ? undefined : accessLevel },
  });
}

export function deleteContainer(account: string, name: string): Promise<Result<unknown>> {
  return request("blob", [account, name], { method: "DELETE", query: { restype: "container" } });
}

export async function restoreContainer(
  account: string,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<Result<string>> {
  const answer = await request("blob", [account, name], {
    method: "PUT",
    query: { restype: "container", comp: "undelete" },
    headers: { "x-ms-deleted-container-name": name, "x-ms-deleted-container-version": version },
  });
  return mapped(answer, () => name);
}
