import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Accounts, AccountSettings } from "../../account/settings.ts";
import {
  decodeClientToken,
  encodeServerToken,
  Negotiation,
  type ClientToken,
} from "../spnego/tokens.ts";
import { Status, type NtStatus } from "../status.ts";
import { md4, Rc4 } from "../crypto/md4-rc4.ts";
import { Reader, Writer } from "../wire/buffers.ts";

/** Logins with NTLM: its three messages ([MS-NLMP] 2.2.1), the verification of NTLMv2 responses
 *  ([MS-NLMP] 3.3.2), and the class `Login`, which `smb/operations/session-setup.ts` uses. NTLMv1
 *  responses are rejected, because they can be broken. */

const ntlmSignature = Buffer.from("NTLMSSP\0", "latin1");
export const MessageType = { negotiate: 1, challenge: 2, authenticate: 3 } as const;

const NtlmFlag = {
  unicode: 0x1,
  requestTarget: 0x4,
  sign: 0x10,
  seal: 0x20,
  ntlm: 0x200,
  alwaysSign: 0x8000,
  targetTypeServer: 0x2_0000,
  extendedSecurity: 0x8_0000,
  targetInfo: 0x80_0000,
  version: 0x200_0000,
  bits128: 0x2000_0000,
  keyExchange: 0x4000_0000,
  bits56: 0x8000_0000,
} as const;

/** Flags that every CHALLENGE message of this server has. */
const alwaysSet =
  NtlmFlag.unicode |
  NtlmFlag.ntlm |
  NtlmFlag.targetTypeServer |
  NtlmFlag.targetInfo |
  NtlmFlag.extendedSecurity;
/** Flags of the NEGOTIATE message that the CHALLENGE repeats. */
const echoed =
  NtlmFlag.requestTarget |
  NtlmFlag.sign |
  NtlmFlag.seal |
  NtlmFlag.alwaysSign |
  NtlmFlag.version |
  NtlmFlag.bits128 |
  NtlmFlag.keyExchange |
  NtlmFlag.bits56;

/** The type of an NTLM message (`MessageType`); undefined if the bytes are none. */
export function typeOfMessage(message: Buffer): number | undefined {
  if (message.length < 12 || !message.subarray(0, 8).equals(ntlmSignature)) return undefined;
  return message.readUInt32LE(8);
}

const challengeFixedBytes = 56;
const targetName = { computer: 1, domain: 2, dnsComputer: 3, dnsDomain: 4, time: 7, end: 0 };
const version = Buffer.from([6, 1, 0, 0, 0, 0, 0, 15]);

interface ChallengeOptions {
  readonly clientFlags: number;
  readonly challenge: Uint8Array;
  readonly serverName: string;
  /** FILETIME of the server. A client that finds it sends a MIC, a signature of all three
   *  messages. */
  readonly time: bigint;
}

function encodeChallenge(options: ChallengeOptions): Buffer {
  const { clientFlags, challenge, serverName, time } = options;
  const target = Buffer.from(serverName.toUpperCase(), "utf16le");
  const dns = Buffer.from(serverName.toLowerCase(), "utf16le");
  const info = new Writer();
  const pair = (id: number, value: Buffer) => info.u16(id).u16(value.length).bytes(value);
  pair(targetName.domain, target);
  pair(targetName.computer, target);
  pair(targetName.dnsDomain, dns);
  pair(targetName.dnsComputer, dns);
  info.u16(targetName.time).u16(8).u64(time);
  pair(targetName.end, Buffer.alloc(0));
  const infoBytes = info.finish();
  return new Writer()
    .bytes(ntlmSignature)
    .u32(MessageType.challenge)
    .u16(target.length)
    .u16(target.length)
    .u32(challengeFixedBytes)
    .u32((clientFlags & echoed) | alwaysSet)
    .bytes(challenge)
    .zeros(8)
    .u16(infoBytes.length)
    .u16(infoBytes.length)
    .u32(challengeFixedBytes + target.length)
    .bytes(version)
    .bytes(target)
    .bytes(infoBytes)
    .finish();
}

/** The AUTHENTICATE message: the client's answer to the challenge. */
interface Authenticate {
  readonly ntResponse: Buffer;
  readonly domain: string;
  readonly user: string;
  readonly encryptedSessionKey: Buffer;
  readonly flags: number;
}

export function decodeAuthenticate(message: Buffer): Authenticate | undefined {
  const reader = new Reader(message, 20);
  const slot = (): Buffer => {
    const length = reader.u16();
    reader.skip(2);
    return reader.bytesAt(reader.u32(), length);
  };
  const ntResponse = slot();
  const domain = slot().toString("utf16le");
  const user = slot().toString("utf16le");
  slot();
  const encryptedSessionKey = slot();
  const flags = reader.u32();
  return reader.checked({ ntResponse, domain, user, encryptedSessionKey, flags });
}

const micOffset = 72;
const micBytes = 16;
const flagsPair = 6;
const hasMicFlag = 2;
const blobHeadBytes = 28;
const pairsMax = 64;

/** Whether the attribute-value pairs in an NTLMv2 response are well-formed. */
export function hasValidPairs(ntResponse: Buffer): boolean {
  const reader = new Reader(ntResponse, 16 + blobHeadBytes);
  for (let count = 0; count < pairsMax; count += 1) {
    if (reader.remaining === 0) return true;
    const id = reader.u16();
    reader.bytes(reader.u16());
    if (!reader.intact || id === targetName.end) return reader.intact;
  }
  return false;
}

/** Whether an NTLMv2 response says that its message has a MIC, a signature of all messages. */
export function claimsMic(ntResponse: Buffer): boolean {
  const reader = new Reader(ntResponse, 16 + blobHeadBytes);
  for (let count = 0; count < pairsMax && reader.intact; count += 1) {
    const id = reader.u16();
    const value = reader.bytes(reader.u16());
    if (id === targetName.end) return false;
    if (id === flagsPair && value.length === 4) return (value.readUInt32LE(0) & hasMicFlag) !== 0;
  }
  return false;
}

const proofBytes = 16;
const ntlm1ResponseBytes = 24;
const sessionKeyBytes = 16;

/** The NT hash of a password (NTOWFv1 in [MS-NLMP]). Clients log in with the name of a storage
 *  account and, as password, its key in Base64. */
export function passwordHash(password: string): Buffer {
  return md4(Buffer.from(password, "utf16le"));
}

/** The messages of one login, which the client signs with its proof and its MIC. */
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

/** The session key of a login: the one that the client chose and sent encrypted with the base key,
 *  if key exchange was negotiated; otherwise the base key. */
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

/** mechListMIC: a signature of the list of login mechanisms that the client offered, so that an
 *  attacker cannot change the list. Formed as the first signed message ([MS-NLMP] 3.4.4). */
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

/** The result of one message of a login: its failure (a status), the next token for the client, or
 *  the end of the login with the last token. */
export type LoginStep =
  | NtStatus
  | { readonly step: "continue"; readonly token: Buffer }
  | {
      readonly step: "done";
      readonly token: Buffer;
      readonly account: AccountSettings;
      readonly sessionKey: Buffer;
    }
  // A login without an account; the caller decides whether to accept it.
  | { readonly step: "anonymous"; readonly token: Buffer };

interface LoginOptions {
  readonly accounts: Accounts;
  readonly challenge: Uint8Array;
  readonly serverName: string;
  readonly fileTime: () => bigint;
}

const rejected = Status.logonFailure;
const malformed = Status.invalidParameter;

/** One login with NTLM, inside SPNEGO tokens or without, up to a session key or a failure. */
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

  /** Handles the next token of the client. */
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

  /** The last token for the client; undefined if the client's mechListMIC shows that the list of
   *  mechanisms was changed in transit. */
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

/** The answer to a first token whose NTLM message is missing or is of another mechanism. */
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
