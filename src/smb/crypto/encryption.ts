import { createCipheriv, createDecipheriv } from "node:crypto";
import type { CipherGCMTypes } from "node:crypto";
import { encryptedMagic } from "../wire/header.ts";
import { Cipher } from "../wire/protocol.ts";
import type { SessionKeys } from "./key-derivation.ts";

/** Encrypts and decrypts frames of one session ([MS-SMB2] 3.1.4.3). An encrypted frame begins with
 *  a transform header ([MS-SMB2] 2.2.41) instead of that of a request. `smb/compound-request.ts`
 *  encrypts responses, `smb/connection.ts` decrypts requests. */
export interface Encryptor {
  /** Returns the transform header and the encrypted frame. */
  encrypt(parts: readonly Buffer[]): Buffer[];
  /** Decrypts a frame. Undefined if the authentication of the frame fails. */
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
