/** Limits of the Blob service; some depend on the `x-ms-version` of the request. */

const mebibyte = 1024 * 1024;

/** Limit of the service for the body of Put Blob. */
export function putBlobBytesMax(version: string): number {
  if (version >= "2019-12-12") return 5000 * mebibyte;
  return version >= "2016-05-31" ? 256 * mebibyte : 64 * mebibyte;
}

/** Azure's limit of the length of a block. */
export function putBlockBytesMax(version: string): number {
  if (version >= "2019-12-12") return 4000 * mebibyte;
  return version >= "2016-05-31" ? 100 * mebibyte : 4 * mebibyte;
}

/** Limit of the service for the committed blocks of a blob. */
export const committedBlocksMax = 50_000;
/** Limit of the service for the uncommitted blocks of a blob. */
export const uncommittedBlocksMax = 100_000;
/** Azure's limit of a block id before its Base64 encoding. */
export const blockIdBytesMax = 64;
/** The service removes uncommitted blocks after this time. */
export const uncommittedLifetimeDays = 7;

/** Azure's limit of one append. */
export function appendBlockBytesMax(version: string): number {
  return version >= "2022-11-02" ? 100 * mebibyte : 4 * mebibyte;
}

/** Limit of the service for the appends to one append blob. */
export const appendedBlocksMax = 50_000;
/** Limit of the service for the length of a page blob: 8 TiB. */
export const pageBlobBytesMax = 8 * mebibyte * mebibyte;
/** Azure's limit of one Put Page. */
export const putPageBytesMax = 4 * mebibyte;
/** Limit of the service for Copy Blob From URL, which responds after the copy is complete. */
export const syncCopyBytesMax = 256 * mebibyte;
