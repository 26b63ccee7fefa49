const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

export const fileBytesMax = 4 * 1024 * gibibyte;
export const rangeBytesMax = 4 * mebibyte;
export const rangeChecksumBytesMax = 4 * mebibyte;
/** A range is one piece of many: only tiny ones are kept out of the extents. */
export const inlineRangeBytesMax = 256;
/** Ranges are told, and space is given back, in steps of this. */
export const sectorBytes = 512;

export function quotaBytes({ quotaGib }: { readonly quotaGib: number }): bigint {
  return BigInt(quotaGib) * BigInt(gibibyte);
}
