import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { md4 } from "../crypto/md4.ts";
import { Rc4 } from "../crypto/rc4.ts";
import { claimsMic, micBytes, micOffset, NtlmFlag, type Authenticate } from "./messages.ts";

/** What an account key proves in NTLMv2 ([MS-NLMP] 3.3.2). Earlier forms are refused. */

const proofBytes = 16;
const oldResponseBytes = 24;
export const sessionKeyBytes = 16;

/** The form in which a password takes part: the key's text, as it is shown, is the password. */
export function passwordHash(password: string): Buffer {
  return md4(Buffer.from(password, "utf16le"));
}

export interface Exchange {
  readonly negotiate: Buffer;
  readonly challengeMessage: Buffer;
  readonly challenge: Uint8Array;
  readonly authenticateMessage: Buffer;
}

/** The session's key if the answer was made with this password. */
export function proveSession(
  hash: Buffer,
  answer: Authenticate,
  exchange: Exchange,
): Buffer | undefined {
  const { ntResponse, user, domain } = answer;
  if (ntResponse.length <= oldResponseBytes) return undefined;
  const identity = Buffer.from(user.toUpperCase() + domain, "utf16le");
  const responseKey = hmacMd5(hash, identity);
  const blob = ntResponse.subarray(proofBytes);
  const proof = hmacMd5(responseKey, exchange.challenge, blob);
  if (!timingSafeEqual(proof, ntResponse.subarray(0, proofBytes))) return undefined;
  const sessionKey = exportedKey(hmacMd5(responseKey, proof), answer);
  if (sessionKey === undefined) return undefined;
  return isUnchanged(sessionKey, ntResponse, exchange) ? sessionKey : undefined;
}

export function exportedKey(base: Buffer, answer: Authenticate): Buffer | undefined {
  if ((answer.flags & NtlmFlag.keyExchange) === 0) return base;
  if (answer.encryptedSessionKey.length !== sessionKeyBytes) return undefined;
  return new Rc4(base).apply(answer.encryptedSessionKey);
}

function isUnchanged(sessionKey: Buffer, ntResponse: Buffer, exchange: Exchange): boolean {
  if (!claimsMic(ntResponse)) return true;
  const message = Buffer.from(exchange.authenticateMessage);
  if (message.length < micOffset + micBytes) return false;
  const check = Buffer.from(message.subarray(micOffset, micOffset + micBytes));
  message.fill(0, micOffset, micOffset + micBytes);
  const parts = [exchange.negotiate, exchange.challengeMessage, message];
  return timingSafeEqual(check, hmacMd5(sessionKey, ...parts));
}

export type Direction = "client-to-server" | "server-to-client";

/** The check over the list of mechanisms, the first message of each direction ([MS-NLMP] 3.4.4). */
export function listCheck(
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
