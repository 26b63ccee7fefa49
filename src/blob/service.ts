import type { Service } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import { blobCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { reclaimers } from "./reclaim.ts";
import { blobs, blocks, generations } from "./records.ts";
import { identify, signedName } from "./address.ts";
import { resources } from "./resources.ts";
import type { BlobAddress } from "./resources.ts";
import { identifyPage } from "./website/get-page.ts";

export const blobService: Service = {
  name: "blob",
  identify,
  identifyPage,
  signedName: (address) => signedName(address as BlobAddress),
  resources,
  operations,
  contentTables: [anyTable(blobs), anyTable(generations), anyTable(blocks)],
  reclaimers,
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

/** Whether a request is one of the Data Lake API. Clients that address a server by IP send requests
 *  of both APIs to one port, so the listener decides only if the request does not. */
export function isPathRequest(request: SentRequest, listener: BlobPort): boolean {
  const { method, target, headers } = request;
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
