import {
  createHmac,
  createCipheriv,
  timingSafeEqual,
  createDecipheriv,
  type CipherGCMTypes,
} from "node:crypto";
import { Cipher, Dialect, Command, SigningAlgorithm } from "../wire/protocol.ts";
import { encryptedMagic } from "../wire/header.ts";

/** What protects the messages of a session: its keys, signatures with them, and encryption.
 *  `smb/operations/session-setup.ts` makes signer and encryptor after a login. */

/** The keys of one session ([MS-SMB2] 3.1.4.2). */
export interface SessionKeys {
  readonly signing: Buffer;
  /** Key of messages from the server to the client. */
  readonly outgoing: Buffer;
  /** Key of messages from the client to the server. */
  readonly incoming: Buffer;
}

interface KeyOptions {
  readonly dialect: number;
  readonly cipher: number;
  readonly sessionKey: Buffer;
  /** SHA-512 over the messages of negotiation and login (preauthentication integrity hash), from
   *  which dialect 3.1.1 derives its keys. */
  readonly preauthHash: Buffer;
}

/** Derives the keys of a session. Before dialect 3.0 the session key itself signs, and nothing is
 *  encrypted. */
export function deriveSessionKeys(options: KeyOptions): SessionKeys {
  const { dialect, cipher, sessionKey, preauthHash } = options;
  if (dialect < Dialect.v300) {
    return { signing: sessionKey, outgoing: Buffer.alloc(0), incoming: Buffer.alloc(0) };
  }
  if (dialect === Dialect.v311) {
    const isWide = cipher === Cipher.aes256Ccm || cipher === Cipher.aes256Gcm;
    const bits = isWide ? 256 : 128;
    const derive = (label: string, length: number) =>
      deriveKey(sessionKey, terminated(label), preauthHash, length);
    return {
      signing: derive("SMBSigningKey", 128),
      outgoing: derive("SMBS2CCipherKey", bits),
      incoming: derive("SMBC2SCipherKey", bits),
    };
  }
  const derive = (label: string, context: string) =>
    deriveKey(sessionKey, terminated(label), terminated(context), 128);
  return {
    signing: derive("SMB2AESCMAC", "SmbSign"),
    outgoing: derive("SMB2AESCCM", "ServerOut"),
    incoming: derive("SMB2AESCCM", "ServerIn "),
  };
}

/** Derives a key of `bits` bits: the KDF of NIST SP 800-108 in counter mode with HMAC-SHA256. It
 *  computes one block, which is enough for 256 bits. */
export function deriveKey(key: Buffer, label: Buffer, context: Buffer, bits: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bits);
  return createHmac("sha256", key)
    .update(Buffer.from([0, 0, 0, 1]))
    .update(label)
    .update(Buffer.from([0]))
    .update(context)
    .update(length)
    .digest()
    .subarray(0, bits / 8);
}

function terminated(text: string): Buffer {
  return Buffer.from(`${text}\0`, "latin1");
}

/** Signs and verifies messages with one signing key ([MS-SMB2] 3.1.4.1).
 *  `smb/operations/dispatch.ts` verifies requests, `smb/compound-request.ts` signs responses. */
export interface Signer {
  sign(message: Buffer): void;
  verify(message: Buffer): boolean;
  /** Whether only one message per MessageId and direction may be signed. With AES-GMAC a second one
   *  would have the same nonce, and an eavesdropper could compute the authentication key. */
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

/* AES-128-CMAC (RFC 4493), the signature of dialect 3.0, which Node.js lacks: the last block of
 * AES-CBC over the message, whose own last block is first combined with a mask. */

const blockBytes = 16;
const zeroBlock = Buffer.alloc(blockBytes);

interface CmacKey {
  readonly key: Buffer;
  /** K1 of the RFC: mask of a full last block. */
  readonly fullMask: Buffer;
  /** K2 of the RFC: mask of a padded last block. */
  readonly paddedMask: Buffer;
}

/** Derives the two masks of a key: once for all messages that are signed with it. */
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

/** Doubles a block in GF(2¹²⁸), with which the RFC derives one mask from the other. */
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

/** Encrypts and decrypts frames of one session ([MS-SMB2] 3.1.4.3). An encrypted frame begins with
 *  a transform header ([MS-SMB2] 2.2.41) instead of that of a request. `smb/compound-request.ts`
 *  encrypts responses, `smb/connection.ts` decrypts requests. */
export interface Encryptor {
  /** Returns the parts of the encrypted frame: the transform header, then the encrypted `parts`. */
  encrypt(parts: readonly Buffer[]): Buffer[];
  /** Decrypts a frame; undefined if it was not encrypted with the key of the session. */
  decrypt(transform: Buffer): Buffer | undefined;
}

export const transformHeaderBytes = 52;
const tagOffset = 4;
const tagBytes = 16;
const nonceOffset = 20;
const sizeOffset = 36;
const flagsOffset = 42;
const sessionIdOffset = 44;
const encryptedFlag = 1;

interface EncryptorOptions {
  readonly sessionId: bigint;
  readonly cipher: number;
  readonly keys: SessionKeys;
}

const cipherNames: Readonly<Record<number, string>> = {
  [Cipher.aes128Ccm]: "aes-128-ccm",
  [Cipher.aes128Gcm]: "aes-128-gcm",
  [Cipher.aes256Ccm]: "aes-256-ccm",
  [Cipher.aes256Gcm]: "aes-256-gcm",
};

/** The encryptor of a session, for the cipher that the session has negotiated. */
export function encryptorOf({ sessionId, cipher, keys }: EncryptorOptions): Encryptor {
  // The types of Node.js distinguish GCM and CCM; used as here, both have the same functions.
  const name = cipherNames[cipher] as CipherGCMTypes;
  const isCcm = name.endsWith("ccm");
  const nonceBytes = isCcm ? 11 : 12;
  const authentication = { authTagLength: tagBytes };
  const nonceOf = (header: Buffer) => header.subarray(nonceOffset, nonceOffset + nonceBytes);
  // The transform header after the signature is authenticated, but not encrypted.
  const additionalData = (header: Buffer) => header.subarray(nonceOffset, transformHeaderBytes);
  let sent = 0n;
  return {
    encrypt(parts) {
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      const header = Buffer.alloc(transformHeaderBytes);
      header.writeUInt32LE(encryptedMagic, 0);
      // The nonce is a counter, so that it never repeats under one key.
      sent += 1n;
      header.writeBigUInt64LE(sent, nonceOffset);
      header.writeUInt32LE(length, sizeOffset);
      header.writeUInt16LE(encryptedFlag, flagsOffset);
      header.writeBigUInt64LE(sessionId, sessionIdOffset);
      const encryption = createCipheriv(name, keys.outgoing, nonceOf(header), authentication);
      encryption.setAAD(additionalData(header), { plaintextLength: length });
      // CCM accepts the plaintext in a single update only.
      const plain = isCcm && parts.length > 1 ? [Buffer.concat(parts)] : parts;
      const body = plain.map((part) => encryption.update(part));
      encryption.final();
      encryption.getAuthTag().copy(header, tagOffset);
      return [header, ...body];
    },
    decrypt(transform) {
      const nonce = nonceOf(transform);
      const decryption = createDecipheriv(name, keys.incoming, nonce, authentication);
      decryption.setAuthTag(transform.subarray(tagOffset, tagOffset + tagBytes));
      const encrypted = transform.subarray(transformHeaderBytes);
      decryption.setAAD(additionalData(transform), { plaintextLength: encrypted.length });
      try {
        const plain = decryption.update(encrypted);
        decryption.final();
        return plain;
      } catch {
        return undefined;
      }
    },
  };
}
