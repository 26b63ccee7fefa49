import type { Service } from "../operation/service.ts";
import { blobCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { blobTables } from "./records.ts";
import { endRehydration, expireBlob, expireUploads } from "./reclaim.ts";
import { identify, signedName, resources, type BlobAddress } from "./resources.ts";
import { identifyPage } from "./website/get-page.ts";

export const blobService: Service = {
  name: "blob",
  identify,
  identifyPage,
  signedName: (address) => signedName(address as BlobAddress),
  resources,
  operations,
  tables: blobTables,
  reclaimers: {
    "blob-expiry": expireBlob,
    "blob-rehydration": endRehydration,
    "blob-uploads": expireUploads,
  },
  transfers: { "blob-copy": blobCopy },
};

/** The listener of the blob service that received a request. */
export type BlobPort = "blob" | "dfs";

/** The parts of a request that decide its API. */
interface SentRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Query parameters that only one of the two APIs has. */
const blobQuery = /[?&](?:comp|restype|snapshot|versionid)=/i;
const dfsQuery = /[?&](?:resource|action|recursive|mode)=/i;

const apiHost = /^[^.]+\.(blob|dfs)(?:[.:]|$)/i;

/** The API that a host such as `account.blob.localhost` names; undefined for other hosts. */
function apiOfHost(host: string | undefined): BlobPort | undefined {
  return apiHost.exec(host ?? "")?.[1]?.toLowerCase() as BlobPort | undefined;
}

/** Whether a request is one of the Data Lake API. Clients that address a server by IP send requests
 *  of both APIs to one port, so the host name or else the listener decides only if the request does
 *  not. */
export function isPathRequest(request: SentRequest, port: BlobPort): boolean {
  const { method, target, headers } = request;
  const listener = apiOfHost(headers["host"]) ?? port;
  const hasQuery = target.includes("?");
  if (hasQuery && blobQuery.test(target)) return false;
  if (method === "OPTIONS") return false;
  if (headers["x-ms-blob-type"] !== undefined) return false;
  if (headers["x-ms-copy-source"] !== undefined) return false;
  if (listener === "dfs") return true;
  if (hasQuery && dfsQuery.test(target)) return true;
  if (method === "PATCH" || headers["x-ms-rename-source"] !== undefined) return true;
  return headers["x-http-method-override"]?.toUpperCase() === "PATCH";
}
