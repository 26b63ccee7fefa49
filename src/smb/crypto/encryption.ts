import { createCipheriv, createDecipheriv } from "node:crypto";
import type { CipherCCMTypes, CipherGCMTypes } from "node:crypto";
import { Cipher } from "../wire/protocol.ts";
import type { SessionKeys } from "./key-derivation.ts";

/** Encrypts and decrypts frames of one session ([MS-SMB2] 2.2.41, 3.1.4.3). */
export interface Encryptor {
  /** Returns the transform header and the encrypted frame. */
  encrypt(parts: readonly Buffer[]): Buffer[];
  /** Undefined if authentication of the frame fails. */
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
const transformMagic = 0x424d53fd;

const gcmNonceBytes = 12;
const ccmNonceBytes = 11;
const authentication = { authTagLength: tagBytes };

interface EncryptorOptions {
  readonly sessionId: bigint;
  readonly cipher: number;
  readonly keys: SessionKeys;
}

/** The encryptor of a session for its negotiated cipher. */
export function encryptorOf({ sessionId, cipher, keys }: EncryptorOptions): Encryptor {
  const mode = cipherModeOf(cipher);
  let sent = 0n;
  return {
    encrypt(parts) {
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      const header = Buffer.alloc(transformHeaderBytes);
      header.writeUInt32LE(transformMagic, 0);
      // The nonce is a counter, so that it never repeats under one key.
      sent += 1n;
      header.writeBigUInt64LE(sent, nonceOffset);
      header.writeUInt32LE(length, sizeOffset);
      header.writeUInt16LE(encryptedFlag, flagsOffset);
      header.writeBigUInt64LE(sessionId, sessionIdOffset);
      const { body, tag } = mode.encrypt(keys.outgoing, header, parts, length);
      tag.copy(header, tagOffset);
      return [header, ...body];
    },
    decrypt(transform) {
      return mode.decrypt(keys.incoming, transform);
    },
  };
}

interface CipherMode {
  readonly encrypt: (
    key: Buffer,
    header: Buffer,
    parts: readonly Buffer[],
    length: number,
  ) => { readonly body: Buffer[]; readonly tag: Buffer };
  readonly decrypt: (key: Buffer, transform: Buffer) => Buffer | undefined;
}

function cipherModeOf(cipher: number): CipherMode {
  switch (cipher) {
    case Cipher.aes128Gcm:
      return gcm("aes-128-gcm");
    case Cipher.aes256Gcm:
      return gcm("aes-256-gcm");
    case Cipher.aes256Ccm:
      return ccm("aes-256-ccm");
    default:
      return ccm("aes-128-ccm");
  }
}

function additionalData(transform: Buffer): Buffer {
  return transform.subarray(nonceOffset, transformHeaderBytes);
}

function nonceOf(transform: Buffer, bytes: number): Buffer {
  return transform.subarray(nonceOffset, nonceOffset + bytes);
}

function tagOf(transform: Buffer): Buffer {
  return transform.subarray(tagOffset, tagOffset + tagBytes);
}

function gcm(name: CipherGCMTypes): CipherMode {
  return {
    encrypt(key, header, parts) {
      const cipher = createCipheriv(name, key, nonceOf(header, gcmNonceBytes), authentication);
      cipher.setAAD(additionalData(header));
      const body = parts.map((part) => cipher.update(part));
      cipher.final();
      return { body, tag: cipher.getAuthTag() };
    },
    decrypt(key, transform) {
      const nonce = nonceOf(transform, gcmNonceBytes);
      const decipher = createDecipheriv(name, key, nonce, authentication);
      decipher.setAuthTag(tagOf(transform));
      decipher.setAAD(additionalData(transform));
      const plain = decipher.update(transform.subarray(transformHeaderBytes));
      try {
        decipher.final();
        return plain;
      } catch {
        return undefined;
      }
    },
  };
}

/** Node's CCM accepts the plaintext in a single update only. */
function ccm(name: CipherCCMTypes): CipherMode {
  return {
    encrypt(key, header, parts, length) {
      const cipher = createCipheriv(name, key, nonceOf(header, ccmNonceBytes), authentication);
      cipher.setAAD(additionalData(header), { plaintextLength: length });
      const body = cipher.update(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
      cipher.final();
      return { body: [body], tag: cipher.getAuthTag() };
    },
    decrypt(key, transform) {
      const encrypted = transform.subarray(transformHeaderBytes);
      const nonce = nonceOf(transform, ccmNonceBytes);
      const decipher = createDecipheriv(name, key, nonce, authentication);
      decipher.setAuthTag(tagOf(transform));
      decipher.setAAD(additionalData(transform), { plaintextLength: encrypted.length });
      try {
        const plain = decipher.update(encrypted);
        decipher.final();
        return plain;
      } catch {
        return undefined;
      }
    },
  };
}
