const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

/** Azure's limit of the length of a file. */
export const fileBytesMax = 4 * 1024 * gibibyte;
/** Azure's limit of one Put Range. */
export const rangeBytesMax = 4 * mebibyte;
/** Azure's limit of a range whose MD5 is requested with it. */
export const rangeChecksumBytesMax = 4 * mebibyte;
/** Unit in which ranges are listed and freed. */
export const sectorBytes = 512;

export function quotaBytes({ quotaGib }: { readonly quotaGib: number }): bigint {
  return BigInt(quotaGib) * BigInt(gibibyte);
}
