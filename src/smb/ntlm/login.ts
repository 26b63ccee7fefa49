import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Accounts, AccountSettings } from "../../account/settings.ts";
import {
  decodeClientToken,
  encodeServerToken,
  Negotiation,
  type ClientToken,
} from "../spnego/tokens.ts";
import {
  claimsMic,
  decodeAuthenticate,
  encodeChallenge,
  hasValidPairs,
  MessageType,
  micBytes,
  micOffset,
  NtlmFlag,
  typeOfMessage,
  type Authenticate,
} from "./messages.ts";
import { Status, type NtStatus } from "../status.ts";
import { md4 } from "../crypto/md4.ts";
import { Rc4 } from "../crypto/rc4.ts";

/** Logins with NTLM: the class `Login`, which `smb/operations/session-setup.ts` uses, and before it
 *  the verification of NTLMv2 responses ([MS-NLMP] 3.3.2). NTLMv1 responses are rejected, because
 *  they can be broken. */

const proofBytes = 16;
const ntlm1ResponseBytes = 24;
const sessionKeyBytes = 16;

/** The NT hash of a password (NTOWFv1). The password of a storage account is its key in base64. */
export function passwordHash(password: string): Buffer {
  return md4(Buffer.from(password, "utf16le"));
}

/** The messages of one login, all of which the proof or the MIC of the client covers. */
interface Exchange {
  readonly negotiate: Buffer;
  readonly challengeMessage: Buffer;
  readonly challenge: Uint8Array;
  readonly authenticateMessage: Buffer;
}

/** Verifies an AUTHENTICATE message, the last one of the client. Returns the session key, or
 *  undefined if the client has another password, or if the MIC, a signature of all three messages,
 *  is wrong. */
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
function exportedKey(base: Buffer, response: Authenticate): Buffer | undefined {
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

type Direction = "client-to-server" | "server-to-client";

/** mechListMIC: the signature of the list of mechanisms, as the first signed message of each
 *  direction ([MS-NLMP] 3.4.4). */
function mechanismListMic(
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

/** The result of one message of a client that authenticates: another message is needed, or the
 *  authentication is complete or failed. */

export type LoginStep =
  | NtStatus
  | { readonly step: "continue"; readonly token: Buffer }
  | {
      readonly step: "done";
      readonly token: Buffer;
      readonly account: AccountSettings;
      readonly sessionKey: Buffer;
    }
  /** The client logs in without an account; the caller decides whether to accept it. */
  | { readonly step: "anonymous"; readonly token: Buffer };

interface LoginOptions {
  readonly accounts: Accounts;
  readonly challenge: Uint8Array;
  readonly serverName: string;
  readonly fileTime: () => bigint;
}

const rejected = Status.logonFailure;
const malformed = Status.invalidParameter;

/** One SPNEGO/NTLM authentication, from the first token to a session key or a failure. */
export class Login {
  readonly #options: LoginOptions;
  #negotiate: Buffer | undefined;
  #challengeMessage: Buffer | undefined;
  #mechanisms: Buffer | undefined;
  /** Whether the client sends NTLM messages without SPNEGO. */
  #isRawNtlm = false;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /** Handles the next token of the client, and returns what to answer. */
  accept(bytes: Buffer): LoginStep {
    if (typeOfMessage(bytes) !== undefined) {
      this.#isRawNtlm = true;
      return this.#takeNtlm(bytes, undefined);
    }
    const wrapped = decodeClientToken(bytes);
    if (wrapped === undefined) return malformed;
    if (wrapped.mechanisms !== undefined) {
      if (!wrapped.offersNtlm) return rejected;
      this.#mechanisms = wrapped.mechanisms;
      if (!wrapped.isNtlm || wrapped.token.length === 0) return askForNtlm;
    }
    return this.#takeNtlm(wrapped.token, wrapped);
  }

  #takeNtlm(message: Buffer, wrapped: ClientToken | undefined): LoginStep {
    switch (typeOfMessage(message)) {
      case MessageType.negotiate:
        return this.#challenge(message);
      case MessageType.authenticate:
        return this.#authenticate(message, wrapped);
      default:
        return malformed;
    }
  }

  #challenge(negotiate: Buffer): LoginStep {
    if (negotiate.length < 16) return malformed;
    const { challenge, serverName, fileTime } = this.#options;
    this.#negotiate = Buffer.from(negotiate);
    this.#challengeMessage = encodeChallenge({
      clientFlags: negotiate.readUInt32LE(12),
      challenge,
      serverName,
      time: fileTime(),
    });
    const token = this.#isRawNtlm
      ? this.#challengeMessage
      : encodeServerToken({
          state: Negotiation.incomplete,
          namesMechanism: true,
          token: this.#challengeMessage,
        });
    return { step: "continue", token };
  }

  #authenticate(message: Buffer, wrapped: ClientToken | undefined): LoginStep {
    const response = decodeAuthenticate(message);
    const negotiate = this.#negotiate;
    const challengeMessage = this.#challengeMessage;
    if (response === undefined || negotiate === undefined || challengeMessage === undefined) {
      return malformed;
    }
    if (response.user === "" && response.ntResponse.length === 0)
      return this.#completeAnonymous(response, wrapped);
    if (!hasValidPairs(response.ntResponse)) return malformed;
    const account = findAccount(this.#options.accounts, response.user);
    if (account === undefined) return rejected;
    const { challenge } = this.#options;
    const exchange = { negotiate, challengeMessage, challenge, authenticateMessage: message };
    for (const key of account.keys) {
      const sessionKey = proveSession(passwordHash(key), response, exchange);
      if (sessionKey === undefined) continue;
      const token = this.#complete(sessionKey, response.flags, wrapped?.check);
      return token === undefined ? rejected : { step: "done", token, account, sessionKey };
    }
    return rejected;
  }

  #completeAnonymous(response: Authenticate, wrapped: ClientToken | undefined): LoginStep {
    const sessionKey = exportedKey(Buffer.alloc(sessionKeyBytes), response);
    const token = sessionKey && this.#complete(sessionKey, response.flags, wrapped?.check);
    return token === undefined ? rejected : { step: "anonymous", token };
  }

  /** The final token; undefined if mechListMIC shows that the list was changed in transit. */
  #complete(sessionKey: Buffer, flags: number, check: Buffer | undefined): Buffer | undefined {
    if (this.#isRawNtlm) return Buffer.alloc(0);
    const list = this.#mechanisms;
    const done = { state: Negotiation.completed, namesMechanism: false };
    if (check === undefined || list === undefined) return encodeServerToken(done);
    const expected = mechanismListMic(sessionKey, flags, "client-to-server", list);
    if (check.length !== expected.length || !timingSafeEqual(check, expected)) return undefined;
    const serverMic = mechanismListMic(sessionKey, flags, "server-to-client", list);
    return encodeServerToken({ ...done, check: serverMic });
  }
}

const askForNtlm: LoginStep = {
  step: "continue",
  token: encodeServerToken({ state: Negotiation.requestCheck, namesMechanism: true }),
};

/** The account that a user name means, if its keys may be used to log in. Account names are
 *  lower-case; user names are not case-sensitive. */
function findAccount(accounts: Accounts, user: string): AccountSettings | undefined {
  const account = accounts.get(user.toLowerCase());
  return account?.sharedKey === true ? account : undefined;
}
