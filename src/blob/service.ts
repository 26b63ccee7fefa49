import { anyTable } from "../encoding/table.ts";
import { ownerJob, type ReclaimJob } from "../operation/effects.ts";
import { removeExpired } from "../operation/owned-records.ts";
import type { ReclaimHandler, Removal, Service } from "../operation/service.ts";
import { serverEvents } from "./events.ts";
import { blobs, uploadEnds, uploads, blobTables } from "./records.ts";
import { hasBlocks } from "./shared/overwrite.ts";
import { afterRehydration, archive } from "./tier/rehydration.ts";
import { blobCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { identify, signedName, resources, type BlobAddress } from "./resources.ts";
import { identifyPage } from "./website/get-page.ts";

/** The declaration of the Blob service for `data/services.ts`, with its own reclaim jobs, and the
 *  rule that tells requests of the Blob API from those of the Data Lake API. */

/** Most records that one step of a reclaim job reads, so that its transaction stays short. */
const scannedMax = 500;

/** Background job (`blob-uploads`) that removes uncommitted Data Lake appends of one directory, a
 *  week after the last one. All uploads that were opened in one hour share a job. */
const expireUploads: ReclaimHandler = async (view, [container, from]) => {
  const below = [container as bigint, from as string];
  const bounds = { ...uploads.range([container as bigint]), start: uploads.prefix(below) };
  const removals: Removal[] = [];
  const jobs: ReclaimJob[] = [];
  let scanned = 0;
  let last = "";
  for await (const batch of view.scan(uploads, { ...bounds, limit: scannedMax })) {
    for (const { key, record } of batch) {
      scanned += 1;
      last = uploads.parts(key)[1] as string;
      if (uploadEnds(record) > view.now) continue;
      removals.push({ table: anyTable(uploads), key });
      if (hasBlocks(record)) jobs.push(ownerJob("upload", record.id));
    }
  }
  if (scanned < scannedMax) return { removals, jobs, done: true };
  const rest = { kind: "blob-uploads", scope: [container as bigint, `${last}\u0000`] };
  return { removals, jobs: [...jobs, rest], done: true };
};

const removeExpiredBlob = removeExpired(anyTable(blobs));

/** Background job (`blob-expiry`) of an expired blob: removes it, with the same event as a
 *  deletion. */
const expireBlob: ReclaimHandler = async (view, scope) => {
  const removed = await removeExpiredBlob(view, scope);
  if (removed.removals === undefined) return removed;
  const [container, name] = scope;
  const key = { container: container as bigint, name: name as string };
  const before = await view.get(blobs, key);
  const appends = await serverEvents(view, key, { api: "DeleteBlob", before, after: undefined });
  return { ...removed, appends };
};

/** Background job (`blob-rehydration`) that writes the event of an ended change from the tier
 *  Archive. If the blob was written since, its record no longer has `due`, and there is no
 *  event. */
const endRehydration: ReclaimHandler = async (view, [container, name, due]) => {
  const key = { container: container as bigint, name: name as string };
  const record = await view.get(blobs, key);
  const after = afterRehydration(record, view.now);
  if (after === undefined || after.tierChanged !== due) return { done: true };
  const change = { api: "SetBlobTier", before: { ...after, tier: archive }, after } as const;
  return { appends: await serverEvents(view, key, change), done: true };
};

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

/** The parts of a request by which `isPathRequest` tells the Blob API from the Data Lake API. */
interface SentRequest {
  readonly method: string;
  /** Path and query, as the client sent them. */
  readonly target: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Query parameters that only the Blob API has, or only the Data Lake API. */
const blobQuery = /[?&](?:comp|restype|snapshot|versionid)=/i;
const dfsQuery = /[?&](?:resource|action|recursive|mode)=/i;

const eitherQuery = new RegExp(`${blobQuery.source}|${dfsQuery.source}`, "i");

const apiHost = /^[^.]+\.(blob|dfs)(?:[.:]|$)/i;

/** The API that a host names (`account.blob.localhost`); undefined for other hosts. */
function apiOfHost(host: string | undefined): BlobPort | undefined {
  return apiHost.exec(host ?? "")?.[1]?.toLowerCase() as BlobPort | undefined;
}

/** Whether a request is one of the Data Lake API. Clients that address a server by IP send requests
 *  of both APIs to one port. Host name and listener therefore count only if parameters, headers and
 *  method fit both APIs. */
export function isPathRequest(request: SentRequest, port: BlobPort): boolean {
  const { method, target, headers } = request;
  const listener = apiOfHost(headers["host"]) ?? port;
  // Most requests have no such parameter, so one search of a target with a long signature is
  // enough.
  const hasQuery = target.includes("?") && eitherQuery.test(target);
  if (hasQuery && blobQuery.test(target)) return false;
  if (method === "OPTIONS") return false;
  if (headers["x-ms-blob-type"] !== undefined) return false;
  if (headers["x-ms-copy-source"] !== undefined) return false;
  if (listener === "dfs") return true;
  if (hasQuery && dfsQuery.test(target)) return true;
  if (method === "PATCH" || headers["x-ms-rename-source"] !== undefined) return true;
  return headers["x-http-method-override"]?.toUpperCase() === "PATCH";
}
