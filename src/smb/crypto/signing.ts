import { createCipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { Command, Dialect, SigningAlgorithm } from "../wire/protocol.ts";

/** Signs and verifies messages with one signing key ([MS-SMB2] 3.1.4.1). `smb/dispatch.ts` verifies
 *  requests, `smb/compound-request.ts` signs responses. */
export interface Signer {
  sign(message: Buffer): void;
  verify(message: Buffer): boolean;
  /** Whether only one message per MessageId and direction may be signed. With AES-GMAC a second
   *  message would have the same nonce, and an eavesdropper could compute the hash key. */
  readonly signsIdOnce: boolean;
}

const signatureOffset = 48;
const signatureBytes = 16;
const commandOffset = 12;
const messageIdOffset = 24;
const fromServer = 1;
const ofCancel = 2;

type Direction = "incoming" | "outgoing";
type Digest = (message: Buffer, direction: Direction) => Buffer;

/** The signer for a key: HMAC-SHA256 before dialect 3.0, AES-CMAC in 3.0, the negotiated algorithm
 *  in 3.1.1. */
export function signerOf(key: Buffer, dialect: number, algorithm: number): Signer {
  const digest = digestOf(key, dialect, algorithm);
  return {
    signsIdOnce: dialect === Dialect.v311 && algorithm === SigningAlgorithm.aesGmac,
    sign(message) {
      message.fill(0, signatureOffset, signatureOffset + signatureBytes);
      digest(message, "outgoing").copy(message, signatureOffset, 0, signatureBytes);
    },
    verify(message) {
      const given = Buffer.from(
        message.subarray(signatureOffset, signatureOffset + signatureBytes),
      );
      message.fill(0, signatureOffset, signatureOffset + signatureBytes);
      const computed = digest(message, "incoming").subarray(0, signatureBytes);
      // Restores the signature, because the preauthentication integrity hash covers the message as
      // sent.
      given.copy(message, signatureOffset);
      return timingSafeEqual(given, computed);
    },
  };
}

function digestOf(key: Buffer, dialect: number, algorithm: number): Digest {
  const negotiates = dialect === Dialect.v311;
  if (dialect < Dialect.v300 || (negotiates && algorithm === SigningAlgorithm.hmacSha256)) {
    return (message) => createHmac("sha256", key).update(message).digest();
  }
  if (negotiates && algorithm === SigningAlgorithm.aesGmac) return gmacOf(key);
  const prepared = cmacKey(key);
  return (message) => cmac(prepared, message);
}

/** AES-GMAC with the nonce of [MS-SMB2] 3.1.4.1: MessageId, direction, and whether it is a CANCEL,
 *  which has the MessageId of another request. */
function gmacOf(key: Buffer): Digest {
  return (message, direction) => {
    const nonce = Buffer.alloc(12);
    message.copy(nonce, 0, messageIdOffset, messageIdOffset + 8);
    const isCancel = message.readUInt16LE(commandOffset) === Command.cancel;
    nonce.writeUInt32LE((direction === "outgoing" ? fromServer : 0) | (isCancel ? ofCancel : 0), 8);
    const cipher = createCipheriv("aes-128-gcm", key, nonce);
    cipher.setAAD(message);
    cipher.final();
    return cipher.getAuthTag();
  };
}

/** AES-128-CMAC (RFC 4493), which Node.js lacks, computed with AES-CBC over the message, whose last
 *  block is combined with a mask. */

const blockBytes = 16;
const zeroBlock = Buffer.alloc(blockBytes);

interface CmacKey {
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
