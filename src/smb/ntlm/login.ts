import { timingSafeEqual } from "node:crypto";
import type { AccountSettings, Accounts } from "../../account/settings.ts";
import {
  decodeClientToken,
  encodeServerToken,
  Negotiation,
  type ClientToken,
} from "../spnego/tokens.ts";
import {
  decodeAuthenticate,
  encodeChallenge,
  hasValidPairs,
  MessageType,
  typeOfMessage,
  type Authenticate,
} from "./messages.ts";
import {
  exportedKey,
  mechanismListMic,
  passwordHash,
  proveSession,
  sessionKeyBytes,
} from "./proof.ts";

/** The result of one message of a client that authenticates: another message is needed, or the
 *  authentication is complete or failed. */

export type LoginStep =
  | { readonly step: "continue"; readonly token: Buffer }
  | {
      readonly step: "done";
      readonly token: Buffer;
      readonly account: AccountSettings;
      readonly sessionKey: Buffer;
    }
  /** Anonymous authentication; the caller decides whether to accept it. */
  | { readonly step: "anonymous"; readonly token: Buffer }
  | { readonly step: "malformed" }
  | { readonly step: "refused" };

export interface LoginOptions {
  readonly accounts: Accounts;
  readonly challenge: Uint8Array;
  readonly serverName: string;
  readonly fileTime: () => bigint;
}

const rejected: LoginStep = { step: "refused" };
const malformed: LoginStep = { step: "malformed" };

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
    if (isAnonymous(response)) return this.#completeAnonymous(response, wrapped);
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

function isAnonymous({ user, ntResponse }: Authenticate): boolean {
  return user === "" && ntResponse.length === 0;
}

/** Account names are lower-case; user names are not case-sensitive. */
function findAccount(accounts: Accounts, user: string): AccountSettings | undefined {
  const account = accounts.get(user.toLowerCase());
  return account?.sharedKey === true ? account : undefined;
}
