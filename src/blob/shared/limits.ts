const mebibyte = 1024 * 1024;

/** Content up to this size is stored in the blob's record. */
export const inlineBlobBytesMax = 4096;
/** The same for blocks, appends and pages: smaller, because a blob may have many of them. */
export const inlinePartBytesMax = 256;

export function putBlobBytesMax(version: string): number {
  if (version >= "2019-12-12") return 5000 * mebibyte;
  return version >= "2016-05-31" ? 256 * mebibyte : 64 * mebibyte;
}

export function putBlockBytesMax(version: string): number {
  if (version >= "2019-12-12") return 4000 * mebibyte;
  return version >= "2016-05-31" ? 100 * mebibyte : 4 * mebibyte;
}

export const committedBlocksMax = 50_000;
export const uncommittedBlocksMax = 100_000;
export const blockIdBytesMax = 64;
export const rangeChecksumBytesMax = 4 * mebibyte;
export const uncommittedLifetimeDays = 7;

export function appendBlockBytesMax(version: string): number {
  return version >= "2022-11-02" ? 100 * mebibyte : 4 * mebibyte;
}

export const appendedBlocksMax = 50_000;
export const pageBlobBytesMax = 8 * mebibyte * mebibyte;
export const putPageBytesMax = 4 * mebibyte;
/** Limit of Copy Blob From URL, which responds after the copy is complete. */
export const syncCopyBytesMax = 256 * mebibyte;
