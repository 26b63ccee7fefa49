import { createCipheriv } from "node:crypto";

/** AES-128-CMAC (RFC 4493), computed as AES-CBC over a message with a masked last block. */

const blockBytes = 16;
const zeroBlock = Buffer.alloc(blockBytes);

export interface CmacKey {
  readonly key: Buffer;
  /** K1 of the RFC: mask of a full last block. */
  readonly fullMask: Buffer;
  /** K2 of the RFC: mask of a padded last block. */
  readonly paddedMask: Buffer;
}

/** Derives the two masks of a key, so that this is done once per key. */
export function cmacKey(key: Buffer): CmacKey {
  const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
  const fullMask = double(cipher.update(zeroBlock));
  return { key, fullMask, paddedMask: double(fullMask) };
}

export function cmac({ key, fullMask, paddedMask }: CmacKey, message: Buffer): Buffer {
  const isFull = message.length > 0 && message.length % blockBytes === 0;
  const headBytes = isFull
    ? message.length - blockBytes
    : message.length - (message.length % blockBytes);
  const last = Buffer.alloc(blockBytes);
  message.copy(last, 0, headBytes);
  if (!isFull) last[message.length - headBytes] = 0x80;
  const mask = isFull ? fullMask : paddedMask;
  for (let index = 0; index < blockBytes; index += 1) last[index]! ^= mask[index]!;
  const cipher = createCipheriv("aes-128-cbc", key, zeroBlock).setAutoPadding(false);
  if (headBytes > 0) cipher.update(message.subarray(0, headBytes));
  return cipher.update(last);
}

/** Doubles a block in GF(2¹²⁸). */
function double(block: Buffer): Buffer {
  const result = Buffer.alloc(blockBytes);
  let carry = 0;
  for (let index = blockBytes - 1; index >= 0; index -= 1) {
    const shifted = (block[index]! << 1) | carry;
    result[index] = shifted & 0xff;
    carry = shifted >> 8;
  }
  if (carry !== 0) result[blockBytes - 1]! ^= 0x87;
  return result;
}
