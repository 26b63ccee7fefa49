import { createHmac } from "node:crypto";
import { Cipher, Dialect } from "../wire/protocol.ts";

/** The keys of one session ([MS-SMB2] 3.1.4.2). `smb/operations/session-setup.ts` derives them
 *  after a login. */
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
  /** Preauthentication integrity hash; used with dialect 3.1.1 only. */
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

/** SP 800-108 KDF in counter mode with HMAC-SHA256; one block covers 256-bit keys. */
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
