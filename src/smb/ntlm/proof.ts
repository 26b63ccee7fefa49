import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { md4 } from "../crypto/md4.ts";
import { Rc4 } from "../crypto/rc4.ts";
import { claimsMic, micBytes, micOffset, NtlmFlag, type Authenticate } from "./messages.ts";

/** Verification of NTLMv2 responses ([MS-NLMP] 3.3.2). NTLMv1 is rejected. */

const proofBytes = 16;
const ntlm1ResponseBytes = 24;
export const sessionKeyBytes = 16;

/** The NT hash of a password (NTOWFv1). The password of a storage account is its key in base64. */
export function passwordHash(password: string): Buffer {
  return md4(Buffer.from(password, "utf16le"));
}

/** The messages of one authentication. */
export interface Exchange {
  readonly negotiate: Buffer;
  readonly challengeMessage: Buffer;
  readonly challenge: Uint8Array;
  readonly authenticateMessage: Buffer;
}

/** Verifies an AUTHENTICATE message. Returns the session key, or undefined if the client has
 *  another password or the MIC is wrong. */
export function proveSession(
  hash: Buffer,
  response: Authenticate,
  exchange: Exchange,
): Buffer | undefined {
  const { ntResponse, user, domain } = response;
  if (ntResponse.length <= ntlm1ResponseBytes) return undefined;
  const identity = Buffer.from(user.toUpperCase() + domain, "utf16le");
  const responseKey = hmacMd5(hash, identity);
  const blob = ntResponse.subarray(proofBytes);
  const proof = hmacMd5(responseKey, exchange.challenge, blob);
  if (!timingSafeEqual(proof, ntResponse.subarray(0, proofBytes))) return undefined;
  const sessionKey = exportedKey(hmacMd5(responseKey, proof), response);
  if (sessionKey === undefined) return undefined;
  return isMicValid(sessionKey, ntResponse, exchange) ? sessionKey : undefined;
}

/** The session key: the one that the client sent encrypted, if key exchange was negotiated, else
 *  the base key. */
export function exportedKey(base: Buffer, response: Authenticate): Buffer | undefined {
  if ((response.flags & NtlmFlag.keyExchange) === 0) return base;
  if (response.encryptedSessionKey.length !== sessionKeyBytes) return undefined;
  return new Rc4(base).apply(response.encryptedSessionKey);
}

function isMicValid(sessionKey: Buffer, ntResponse: Buffer, exchange: Exchange): boolean {
  if (!claimsMic(ntResponse)) return true;
  const message = Buffer.from(exchange.authenticateMessage);
  if (message.length < micOffset + micBytes) return false;
  const check = Buffer.from(message.subarray(micOffset, micOffset + micBytes));
  message.fill(0, micOffset, micOffset + micBytes);
  const parts = [exchange.negotiate, exchange.challengeMessage, message];
  return timingSafeEqual(check, hmacMd5(sessionKey, ...parts));
}

export type Direction = "client-to-server" | "server-to-client";

/** mechListMIC: the signature of the list of mechanisms, as the first signed message of each
 *  direction ([MS-NLMP] 3.4.4). */
export function mechanismListMic(
  sessionKey: Buffer,
  flags: number,
  direction: Direction,
  list: Buffer,
): Buffer {
  const keyFor = (use: string) =>
    createHash("md5")
      .update(sessionKey)
      .update(`session key to ${direction} ${use} key magic constant\0`, "latin1")
      .digest();
  const sequence = Buffer.alloc(4);
  const digest = hmacMd5(keyFor("signing"), sequence, list).subarray(0, 8);
  const exchanges = (flags & NtlmFlag.keyExchange) !== 0;
  const check = exchanges ? new Rc4(keyFor("sealing")).apply(digest) : digest;
  return Buffer.concat([Buffer.from([1, 0, 0, 0]), check, sequence]);
}

function hmacMd5(key: Buffer, ...parts: readonly Uint8Array[]): Buffer {
  const hmac = createHmac("md5", key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}
