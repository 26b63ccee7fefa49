/** Limits of Azure's Blob service, in bytes if the name says so. Some depend on the `x-ms-version`
 *  of the request, which fails if it exceeds one. */

const mebibyte = 1024 * 1024;

/** Azure's limit of the body of Put Blob, in bytes. */
export function putBlobBytesMax(version: string): number {
  if (version >= "2019-12-12") return 5000 * mebibyte;
  return version >= "2016-05-31" ? 256 * mebibyte : 64 * mebibyte;
}

/** Azure's limit of the length of a block, in bytes. */
export function putBlockBytesMax(version: string): number {
  if (version >= "2019-12-12") return 4000 * mebibyte;
  return version >= "2016-05-31" ? 100 * mebibyte : 4 * mebibyte;
}

/** Azure's limit of the number of committed blocks of a blob. */
export const committedBlocksMax = 50_000;
/** Azure's limit of the number of uncommitted blocks of a blob. */
export const uncommittedBlocksMax = 100_000;
/** Azure's limit of the length of a block id before its Base64 encoding. */
export const blockIdBytesMax = 64;
/** Azure removes the uncommitted blocks of a blob at this time after the last Put Block. */
export const uncommittedLifetimeDays = 7;

/** Azure's limit of the bytes of one Append Block. */
export function appendBlockBytesMax(version: string): number {
  return version >= "2022-11-02" ? 100 * mebibyte : 4 * mebibyte;
}

/** Azure's limit of the number of appends to one append blob. */
export const appendedBlocksMax = 50_000;
/** Azure's limit of the length of a page blob: 8 TiB. */
export const pageBlobBytesMax = 8 * mebibyte * mebibyte;
/** Azure's limit of the bytes that one Put Page writes. */
export const putPageBytesMax = 4 * mebibyte;
/** Azure's limit of the source of Copy Blob From URL, which responds after the copy is complete. */
export const syncCopyBytesMax = 256 * mebibyte;
