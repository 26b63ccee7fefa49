/**
 * The structured body format: data with checksums in between, as newer clients send and request it.
 * All numbers are little-endian; sizes in bytes in parentheses.
 *
 * Header: version (1), length of the whole message (8), flags (2), number of segments (2). Segment:
 * its number from 1 (2), its length (8), the data, its CRC64 (8). At the end the CRC64 of all data
 * (8).
 */
export const structuredForm = "XSM/1.0; properties=crc64";
export const structuredVersion = 1;
export const crc64Flag = 1;
export const headerBytes = 13;
export const segmentHeaderBytes = 10;
export const crc64Length = 8;
export const segmentsMax = 65_535;

const segmentBytesDefault = 4 * 1024 * 1024;

/** Size and number of the segments in which this server sends a body of a given length. */
export function segmentsOf(length: number): { readonly bytes: number; readonly count: number } {
  const bytes = Math.max(segmentBytesDefault, Math.ceil(length / segmentsMax));
  return { bytes, count: Math.ceil(length / bytes) };
}

/** Length of the structured body of `length` bytes of data. */
export function structuredLength(length: number): number {
  const { count } = segmentsOf(length);
  return headerBytes + count * (segmentHeaderBytes + crc64Length) + length + crc64Length;
}

export function isStructuredForm(text: string): boolean {
  return /^XSM\/1\.0;\s*properties=crc64$/i.test(text.trim());
}
