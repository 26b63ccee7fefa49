import { createHash, timingSafeEqual } from "node:crypto";
import type { Accounts } from "../../account/settings.ts";
import type { Clock, Random } from "../../base/world.ts";
import { refuse, type AdminResponse } from "../admin-response.ts";
import type { AdminRequest } from "../request.ts";
import type { Access } from "../routes.ts";
import { Attempts } from "./attempts.ts";
import { serverGrant, type Grant } from "./grant.ts";
import { LoginLinks } from "./login-links.ts";
import { isCrossSite, isFromOwnPage, isOwnHost } from "./same-origin.ts";
import { sessionCookieOf } from "./session-cookie.ts";
import { Sessions, type Session } from "./sessions.ts";

export interface AdminSecurity {
  /** Follows the accounts, which can be read again. */
  readonly isLoginRequired: () => boolean;
  /** Figures name no account: on a loopback address they need no login. */
  readonly isMetricsLoginRequired: boolean;
  /** The `--adminToken`. */
  readonly token: string | undefined;
  /** For programs that can read the data folder. */
  readonly localToken: string | undefined;
}

export interface GateOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly security: AdminSecurity;
}

/** Programs send it with every request. Neither a page of another site nor a copy can. */
export const adminHeader = "x-etagere-admin";
const bearer = "Bearer ";

type Asked = Pick<AdminRequest, "headers" | "remoteAddress">;

/** Decides who may call the admin listener, and what they administer. */
export class AdminAuth {
  readonly sessions: Sessions;
  readonly links: LoginLinks;
  readonly #options: GateOptions;
  readonly #attempts = new Attempts();

  constructor(options: GateOptions) {
    this.#options = options;
    this.sessions = new Sessions(options.clock, options.random);
    this.links = new LoginLinks(options.clock, options.random);
  }

  get isLoginRequired(): boolean {
    return this.#options.security.isLoginRequired();
  }

  /** Why a request is refused before its credentials are looked at. */
  checkOrigin({ headers }: Asked, access: Access): AdminResponse | undefined {
    if (isCrossSite(headers)) return refuse(403, "CrossSite", "not from a page of another site");
    if (!this.#needsLogin(access) && !isOwnHost(headers.host)) {
      return refuse(421, "WrongHost", "use an address or localhost, or start with --adminToken");
    }
    if (access === "metrics" || this.#isOwnClient(headers)) return undefined;
    return refuse(403, "HeaderRequired", `requests must carry the header ${adminHeader}: 1`);
  }

  /** Lets a caller in, or says why not. */
  admit(request: Asked, access: Access): AuthResult {
    if (!this.#needsLogin(access)) return this.#unsecured(access);
    const given = request.headers.authorization ?? "";
    if (given.startsWith(bearer)) return this.#admitBearer(given.slice(bearer.length), request);
    const cookie = sessionCookieOf(request.headers.cookie);
    const session = this.#stillGood(this.sessions.use(cookie));
    if (session === undefined) return { refusal: refuse(401, "LoginRequired", "log in first") };
    const { grant } = session;
    const isServerOnly = access === "server" || access === "metrics";
    if (isServerOnly && grant.kind !== "server") {
      return {
        refusal: refuse(403, "AdminTokenRequired", "an account key is not enough for this"),
      };
    }
    return { grant, isValid: () => this.sessionOf(cookie) !== undefined };
  }

  /** The session behind a cookie, as long as what opened it would open it again. */
  sessionOf(cookie: string | undefined): Session | undefined {
    return this.#stillGood(this.sessions.peek(cookie));
  }

  /** What a proof of the login's body lets its bearer administer. */
  attempt(address: string, prove: () => Proven | undefined): Proven | { refusal: AdminResponse } {
    const now = this.#options.clock.monotonic();
    const wait = this.#attempts.waitSeconds(address, now);
    if (wait > 0) {
      const headers = { "Retry-After": String(wait) };
      const message = "too many failed attempts; wait a while";
      return { refusal: refuse(429, "TooManyAttempts", message, headers) };
    }
    const proven = prove();
    if (proven !== undefined) return proven;
    this.#attempts.failed(address, now);
    const message = "the account and its key, or the token, are not right";
    return { refusal: refuse(401, "LoginFailed", message) };
  }

  isToken(given: string): boolean {
    const { token, localToken } = this.#options.security;
    const same = [token, localToken].map((each) => each !== undefined && isSame(given, each));
    return same.includes(true);
  }

  isKeyOf(account: string, key: string): boolean {
    // Also for an account that does not exist, so that the time tells nothing.
    const keys = this.#options.accounts.get(account)?.keys ?? [""];
    const same = keys.map((each) => isSame(key, each));
    return key !== "" && same.includes(true);
  }

  #needsLogin(access: Access): boolean {
    const { isMetricsLoginRequired } = this.#options.security;
    return access === "metrics" ? isMetricsLoginRequired : this.isLoginRequired;
  }

  #isOwnClient(headers: Asked["headers"]): boolean {
    if (headers[adminHeader] !== undefined || isFromOwnPage(headers)) return true;
    return this.sessionOf(sessionCookieOf(headers.cookie)) !== undefined;
  }

  #unsecured(access: Access): AuthResult {
    return { grant: serverGrant, isValid: () => !this.#needsLogin(access) };
  }

  #admitBearer(given: string, { remoteAddress }: Asked): AuthResult {
    const proven = this.attempt(remoteAddress, () =>
      this.isToken(given) ? { grant: serverGrant, key: undefined } : undefined,
    );
    return "refusal" in proven ? proven : { grant: proven.grant, isValid: () => true };
  }

  /** A key that was replaced no longer holds a session open. */
  #stillGood(session: Session | undefined): Session | undefined {
    if (session === undefined || session.grant.kind === "server") return session;
    const { grant, key } = session;
    const keys: readonly string[] = this.#options.accounts.get(grant.account)?.keys ?? [];
    return key !== undefined && keys.includes(key) ? session : undefined;
  }
}

export interface Proven {
  readonly grant: Grant;
  /** The account key, if it was one. */
  readonly key: string | undefined;
}

export type AuthResult =
  | { readonly refusal: AdminResponse }
  | {
      readonly refusal?: undefined;
      readonly grant: Grant;
      /** Whether it would be given again: what stays open asks from time to time. */
      readonly isValid: () => boolean;
    };

/** Digests have one length, so that neither content nor length shows in the time it takes. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
