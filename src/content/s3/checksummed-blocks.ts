import { crc32 } from "node:zlib";

/** The format of the objects in which S3 extents are stored: blocks with checksums, because not
 *  every service protects bytes against damage in transit. `open-s3-files.ts` writes it,
 *  `part-reader.ts` reads it. */

/** An object consists of blocks of this many bytes, each followed by its checksum, so that a read
 *  of any range is verified without reading the whole object. */
export const blockBytes = 64 * 1024;
const checksumBytes = 4;
const storedBlockBytes = blockBytes + checksumBytes;

/** Length of an object, with the checksums, for `length` bytes of data. */
function storedLength(length: number): number {
  return length + checksumBytes * Math.ceil(length / blockBytes);
}

/** Byte range of the blocks from `first` to `last` (both included) in an object with `length` bytes
 *  of data: the `Range` header of a request. */
export function storedRange(length: number, first: number, last: number): [number, number] {
  const end = Math.min(storedLength(length), (last + 1) * storedBlockBytes);
  return [first * storedBlockBytes, end - 1];
}

export function encodeBlocks(key: string, bytes: Uint8Array): Uint8Array {
  const stored = Buffer.allocUnsafeSlow(storedLength(bytes.length));
  for (let index = 0; index * blockBytes < bytes.length; index += 1) {
    const block = bytes.subarray(index * blockBytes, (index + 1) * blockBytes);
    const at = index * storedBlockBytes;
    stored.set(block, at);
    stored.writeUInt32BE(checksumOf(key, index, block), at + block.length);
  }
  return stored;
}

/** Decodes a response with blocks from number `first` on; `undefined` if a checksum is wrong. */
export function decodeBlocks(
  key: string,
  first: number,
  stored: Uint8Array,
): readonly Uint8Array[] | undefined {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < stored.length; at += storedBlockBytes) {
    const whole = stored.subarray(at, at + storedBlockBytes);
    if (whole.length <= checksumBytes) return undefined;
    const end = whole.length - checksumBytes;
    const checksum = new DataView(whole.buffer, whole.byteOffset + end).getUint32(0);
    // A copy: a view would keep the whole response in memory as long as one of its blocks is
    // cached.
    const block = new Uint8Array(whole.subarray(0, end));
    if (checksumOf(key, first + blocks.length, block) !== checksum) return undefined;
    blocks.push(block);
  }
  return blocks;
}

/** The checksum includes key and block number, so that a service that returns another object or
 *  range is noticed. */
function checksumOf(key: string, index: number, block: Uint8Array): number {
  return crc32(block, crc32(`${key} ${index}`));
}
