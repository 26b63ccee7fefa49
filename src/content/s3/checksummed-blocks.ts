import { crc32 } from "node:zlib";

/** An object holds blocks of this many bytes, each followed by its checksum, so that any part of it
 *  can be read and held against what was written. */
export const blockBytes = 64 * 1024;
const checksumBytes = 4;
const sealedBlockBytes = blockBytes + checksumBytes;

/** How long an object is that holds `length` bytes. */
export function sealedLength(length: number): number {
  return length + checksumBytes * Math.ceil(length / blockBytes);
}

/** Where in an object of `length` bytes the blocks from `first` to `last` lie, both included. */
export function sealedRange(length: number, first: number, last: number): [number, number] {
  const end = Math.min(sealedLength(length), (last + 1) * sealedBlockBytes);
  return [first * sealedBlockBytes, end - 1];
}

export function encodeBlocks(key: string, bytes: Uint8Array): Uint8Array {
  const sealed = Buffer.allocUnsafeSlow(sealedLength(bytes.length));
  for (let index = 0; index * blockBytes < bytes.length; index += 1) {
    const block = bytes.subarray(index * blockBytes, (index + 1) * blockBytes);
    const at = index * sealedBlockBytes;
    sealed.set(block, at);
    sealed.writeUInt32BE(checksumOf(key, index, block), at + block.length);
  }
  return sealed;
}

/** The blocks from `first` on that `sealed` holds, or undefined if it is not what was written. */
export function decodeBlocks(
  key: string,
  first: number,
  sealed: Uint8Array,
): readonly Uint8Array[] | undefined {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < sealed.length; at += sealedBlockBytes) {
    const whole = sealed.subarray(at, at + sealedBlockBytes);
    if (whole.length <= checksumBytes) return undefined;
    const end = whole.length - checksumBytes;
    const checksum = new DataView(whole.buffer, whole.byteOffset + end).getUint32(0);
    // A copy: a view would keep all that was read in memory for as long as one block of it.
    const block = new Uint8Array(whole.subarray(0, end));
    if (checksumOf(key, first + blocks.length, block) !== checksum) return undefined;
    blocks.push(block);
  }
  return blocks;
}

/** Covers the place, too: the right bytes of another object are as wrong as any. */
function checksumOf(key: string, index: number, block: Uint8Array): number {
  return crc32(block, crc32(`${key} ${index}`));
}
