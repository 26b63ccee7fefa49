const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

export const fileBytesMax = 4 * 1024 * gibibyte;
export const rangeBytesMax = 4 * mebibyte;
export const rangeChecksumBytesMax = 4 * mebibyte;
/** Larger ranges go to extents: a file may consist of many ranges. */
export const inlineRangeBytesMax = 256;
/** Ranges are listed, and space is freed, in units of this size. */
export const sectorBytes = 512;

export function quotaBytes({ quotaGib }: { readonly quotaGib: number }): bigint {
  return BigInt(quotaGib) * BigInt(gibibyte);
}
