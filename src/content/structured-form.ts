/**
 * A body with checksums in between, as newer clients send and ask for it. All numbers are little
 * endian. Header: version (1), length of the whole message (8), flags (2), count of segments (2).
 * Segment: its number from 1 (2), its length (8), the bytes, their CRC64 (8). At the end the CRC64
 * of all bytes (8).
 */
export const structuredForm = "XSM/1.0; properties=crc64";
export const structuredVersion = 1;
export const crc64Flag = 1;
export const headerBytes = 13;
export const segmentHeaderBytes = 10;
export const crc64Length = 8;
export const segmentsMax = 65_535;

const segmentBytesWished = 4 * 1024 * 1024;

/** How a body of this length is cut. */
export function segmentsOf(length: number): { readonly bytes: number; readonly count: number } {
  const bytes = Math.max(segmentBytesWished, Math.ceil(length / segmentsMax));
  return { bytes, count: Math.ceil(length / bytes) };
}

export function structuredLength(length: number): number {
  const { count } = segmentsOf(length);
  return headerBytes + count * (segmentHeaderBytes + crc64Length) + length + crc64Length;
}

export function isStructuredForm(text: string): boolean {
  return /^XSM\/1\.0;\s*properties=crc64$/i.test(text.trim());
}
