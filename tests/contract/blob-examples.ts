import type { RawCall } from "../harness/raw-client.ts";

/** One valid request for each operation, on an existing target. */
export type Example = (place: Place) => RawCall;

export interface Place {
  readonly container: string;
  readonly blob: string;
}

const blockId = Buffer.from("block-1").toString("base64");

const onContainer =
  (method: string, query: string, extra: Partial<RawCall> = {}): Example =>
  ({ container }) => ({ method, path: `/${container}?restype=container${query}`, ...extra });

const onBlob =
  (method: string, query: string, extra: Partial<RawCall> = {}): Example =>
  ({ container, blob }) => ({ method, path: `/${container}/${blob}${query}`, ...extra });

export const containerExamples: Readonly<Record<string, Example>> = {
  Container_GetProperties: onContainer("GET", ""),
  Container_GetMetadata_GET: onContainer("GET", "&comp=metadata"),
  Container_SetMetadata: onContainer("PUT", "&comp=metadata", { headers: { "x-ms-meta-a": "1" } }),
  Container_Delete: onContainer("DELETE", ""),
};

export const blobExamples: Readonly<Record<string, Example>> = {
  BlockBlob_Upload: onBlob("PUT", "", {
    headers: { "x-ms-blob-type": "BlockBlob" },
    body: "replaced",
  }),
  Blob_Download: onBlob("GET", ""),
  Blob_GetProperties: onBlob("HEAD", ""),
  Blob_GetMetadata_GET: onBlob("GET", "?comp=metadata"),
  Blob_SetMetadata: onBlob("PUT", "?comp=metadata", { headers: { "x-ms-meta-a": "1" } }),
  Blob_SetHTTPHeaders: onBlob("PUT", "?comp=properties", {
    headers: { "x-ms-blob-content-type": "text/plain" },
  }),
  Blob_CreateSnapshot: onBlob("PUT", "?comp=snapshot"),
  Blob_Delete: onBlob("DELETE", ""),
  BlockBlob_StageBlock: onBlob("PUT", `?comp=block&blockid=${blockId}`, { body: "block" }),
  BlockBlob_CommitBlockList: onBlob("PUT", "?comp=blocklist", {
    headers: { "content-type": "application/xml" },
    body: '<?xml version="1.0" encoding="utf-8"?><BlockList></BlockList>',
  }),
  BlockBlob_GetBlockList: onBlob("GET", "?comp=blocklist"),
  Blob_AcquireLease: onBlob("PUT", "?comp=lease", {
    headers: { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" },
  }),
};
