import type { Accounts } from "../../account/settings.ts";
import type { Clock, Random } from "../../base/world.ts";
import { refuse, type AdminResponse } from "../admin-response.ts";
import type { AdminRequest } from "../request.ts";
import type { Access } from "../routes.ts";
import { FailureLimiter } from "./failure-limiter.ts";
import { serverGrant, type Grant } from "./grant.ts";
import { LoginLinks } from "./login-links.ts";
import { isCrossSite, isFromOwnPage, isOwnHost } from "./same-origin.ts";
import { isSameSecret } from "./same-secret.ts";
import { sessionCookieOf } from "./session-cookie.ts";
import { Sessions, type Session } from "./sessions.ts";

/** How the admin listener is protected. */
export interface AdminSecurity {
  /** Whether callers must log in. Evaluated for each request, because accounts can be reloaded. */
  readonly isLoginRequired: () => boolean;
  /** Whether the metrics require a login. They name no account, so on a loopback address they do
   *  not. */
  readonly isMetricsLoginRequired: boolean;
  /** Value of `--adminToken`. */
  readonly token: string | undefined;
  /** Token in the data folder's `admin.json`. */
  readonly localToken: string | undefined;
}

export interface AdminAuthOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly security: AdminSecurity;
}

/** Header that programs must send. A page of another site, and a request for a copy source, cannot
 *  send it. */
export const adminHeader = "x-etagere-admin";
const bearer = "Bearer ";

type RequestHead = Pick<AdminRequest, "headers" | "remoteAddress">;

/** Authenticates callers of the admin listener and determines what they administer. */
export class AdminAuth {
  readonly sessions: Sessions;
  readonly links: LoginLinks;
  readonly #options: AdminAuthOptions;
  readonly #failures = new FailureLimiter();

  constructor(options: AdminAuthOptions) {
    this.#options = options;
    this.sessions = new Sessions(options.clock, options.random);
    this.links = new LoginLinks(options.clock, options.random);
  }

  get isLoginRequired(): boolean {
    return this.#options.security.isLoginRequired();
  }

  /** Checks that come before the credentials: origin, host and required header. */
  checkOrigin({ headers }: RequestHead, access: Access): AdminResponse | undefined {
    if (isCrossSite(headers))
      return refuse(403, "CrossSite", "requests from other sites are rejected");
    if (!this.#needsLogin(access) && !isOwnHost(headers.host)) {
      return refuse(421, "WrongHost", "use an address or localhost, or start with --adminToken");
    }
    if (access === "metrics" || this.#isOwnClient(headers)) return undefined;
    return refuse(403, "HeaderRequired", `requests must carry the header ${adminHeader}: 1`);
  }

  /** Authenticates the caller, or returns the rejection. */
  authenticate(request: RequestHead, access: Access): AuthResult {
    const cookie = sessionCookieOf(request.headers.cookie);
    if (!this.#needsLogin(access)) {
      // A user who has logged in as a principal sees what the principal may do, although the
      // server requires no login.
      const own = access === "metrics" ? undefined : this.#stillGood(this.sessions.peek(cookie));
      if (own?.grant.kind !== "principal") return this.#unsecured(access);
    }
    const given = request.headers.authorization ?? "";
    if (given.startsWith(bearer)) return this.#admitBearer(given.slice(bearer.length), request);
    const session = this.#stillGood(this.sessions.use(cookie));
    if (session === undefined) return { refusal: refuse(401, "LoginRequired", "log in first") };
    const { grant } = session;
    const refusal = refuseGrant(grant, access);
    if (refusal !== undefined) return { refusal };
    return { grant, isValid: () => this.sessionOf(cookie) !== undefined };
  }

  /** The session of a cookie, if its account key is still valid. */
  sessionOf(cookie: string | undefined): Session | undefined {
    return this.#stillGood(this.sessions.peek(cookie));
  }

  /** Verifies the credentials of a login; counts failures per address. */
  attempt(
    address: string,
    prove: () => Credentials | undefined,
  ): Credentials | { refusal: AdminResponse } {
    const now = this.#options.clock.monotonic();
    const wait = this.#failures.waitSeconds(address, now);
    if (wait > 0) {
      const headers = { "Retry-After": String(wait) };
      const message = "too many failed attempts; try again later";
      return { refusal: refuse(429, "TooManyAttempts", message, headers) };
    }
    const proven = prove();
    if (proven !== undefined) return proven;
    this.#failures.failed(address, now);
    const message = "wrong account, key, principal, secret or token";
    return { refusal: refuse(401, "LoginFailed", message) };
  }

  isToken(given: string): boolean {
    const { token, localToken } = this.#options.security;
    const same = [token, localToken].map((each) => each !== undefined && isSameSecret(given, each));
    return same.includes(true);
  }

  isKeyOf(account: string, key: string): boolean {
    // An unknown account is compared, too, so that the response time does not reveal whether it
    // exists.
    const keys = this.#options.accounts.get(account)?.keys ?? [""];
    const same = keys.map((each) => isSameSecret(key, each));
    return key !== "" && same.includes(true);
  }

  #needsLogin(access: Access): boolean {
    const { isMetricsLoginRequired } = this.#options.security;
    return access === "metrics" ? isMetricsLoginRequired : this.isLoginRequired;
  }

  #isOwnClient(headers: RequestHead["headers"]): boolean {
    if (headers[adminHeader] !== undefined || isFromOwnPage(headers)) return true;
    return this.sessionOf(sessionCookieOf(headers.cookie)) !== undefined;
  }

  #unsecured(access: Access): AuthResult {
    return { grant: serverGrant, isValid: () => !this.#needsLogin(access) };
  }

  #admitBearer(given: string, { remoteAddress }: RequestHead): AuthResult {
    const proven = this.attempt(remoteAddress, () =>
      this.isToken(given) ? { grant: serverGrant, key: undefined } : undefined,
    );
    return "refusal" in proven ? proven : { grant: proven.grant, isValid: () => true };
  }

  /** Undefined if the account key of the session was replaced, or its principal or token is not
   *  accepted any more. */
  #stillGood(session: Session | undefined): Session | undefined {
    if (session === undefined || session.grant.kind === "server") return session;
    const { grant, key } = session;
    if (grant.kind === "principal") return grant.isAccepted() ? session : undefined;
    const keys: readonly string[] = this.#options.accounts.get(grant.account)?.keys ?? [];
    return key !== undefined && keys.includes(key) ? session : undefined;
  }
}

/** The rejection of a caller whose credentials do not suffice for a route. */
function refuseGrant(grant: Grant, access: Access): AdminResponse | undefined {
  if (grant.kind === "server") return undefined;
  const isPrincipal = grant.kind === "principal";
  if (access === "server" || access === "metrics") {
    const given = isPrincipal ? "a principal" : "an account key";
    return refuse(403, "AdminTokenRequired", `${given} does not suffice`);
  }
  if (!isPrincipal || access === "principal") return undefined;
  return refuse(403, "AccountKeyRequired", "a principal does not suffice");
}

/** The result of a successful proof. */
export interface Credentials {
  readonly grant: Grant;
  /** The account key of the login; undefined for a token or principal. */
  readonly key: string | undefined;
}

export type AuthResult =
  | { readonly refusal: AdminResponse }
  | {
      readonly refusal?: undefined;
      readonly grant: Grant;
      /** Whether the login is still valid; streams check it periodically. */
      readonly isValid: () => boolean;
    };
