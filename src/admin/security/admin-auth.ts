import type { Accounts } from "../../account/settings.ts";
import type { Clock, Random } from "../../base/world.ts";
import { refuse, type AdminResponse } from "../admin-response.ts";
import type { AdminRequest } from "../request.ts";
import type { Access } from "../routes.ts";
import { serverGrant, type Grant } from "./grant.ts";
import { isCrossSite, isFromOwnPage, isOwnHost } from "./same-origin.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";

/** Authenticates the callers of the admin listener: sessions of browsers, login links, the admin
 *  token, and the limit of failed attempts. */

/** A login to the admin listener that has not ended. */
interface Session {
  readonly grant: Grant;
  /** The account key of the login; undefined for a grant over the whole server. */
  readonly key: string | undefined;
  readonly began: Ticks;
  /** Time when the session ends unless another request prolongs it. */
  readonly expires: Ticks;
}

const secretBytes = 32;
/** How long a session lasts after its last request. */
const idleTicks = 30n * 60n * ticksPerSecond;
/** Longest duration of a session, however often it is used. */
const sessionLifeTicks = 12n * 3600n * ticksPerSecond;
/** Bounds memory: beyond this number of open sessions the oldest ends. */
const sessionsMax = 1000;
const form = /^[0-9a-f]{64}$/;

/** The logins of this process, stored here and not in the cookie: a logout ends every copy of the
 *  cookie, and a restart ends all sessions. */
class Sessions {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By digest of the cookie value, so that lookup times reveal nothing about the value. */
  readonly #byDigest = new Map<string, Session>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Opens a session and returns its cookie value. */
  begin({ grant, key }: Pick<Session, "grant" | "key">): string {
    const value = Buffer.from(this.#random.bytes(secretBytes)).toString("hex");
    const began = this.#clock.wall();
    this.#byDigest.set(digestOf(value), { grant, key, began, expires: began + idleTicks });
    const [oldest] = this.#byDigest.keys();
    if (this.#byDigest.size > sessionsMax && oldest !== undefined) this.#byDigest.delete(oldest);
    return value;
  }

  /** The session of a cookie value, without extending it. */
  peek(value: string | undefined): Session | undefined {
    if (value === undefined || !form.test(value)) return undefined;
    const digest = digestOf(value);
    const session = this.#byDigest.get(digest);
    if (session === undefined || this.#clock.wall() < session.expires) return session;
    this.#byDigest.delete(digest);
    return undefined;
  }

  /** The session of a cookie value; the use extends it. */
  use(value: string | undefined): Session | undefined {
    const session = this.peek(value);
    if (session === undefined || value === undefined) return undefined;
    const idleEnd = this.#clock.wall() + idleTicks;
    const lifeEnd = session.began + sessionLifeTicks;
    const renewed = { ...session, expires: idleEnd < lifeEnd ? idleEnd : lifeEnd };
    this.#byDigest.set(digestOf(value), renewed);
    return renewed;
  }

  end(value: string | undefined): void {
    if (value !== undefined) this.#byDigest.delete(digestOf(value));
  }
}

function digestOf(value: string): string {
  return secretDigestOf(value).toString("hex");
}

const tokenBytes = 32;
const linkLifeTicks = 3600n * ticksPerSecond;
/** Bounds memory: beyond this number of valid links the oldest becomes invalid. */
const linksMax = 16;

/** One-time tokens in the links that open the explorer without another login: the server prints
 *  such a link when it starts, and `etagere login` requests further ones. */
class LoginLinks {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Expiry of each token, by its digest, so that lookup times reveal nothing about the token. */
  readonly #ends = new Map<string, Ticks>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  issue(): string {
    const token = Buffer.from(this.#random.bytes(tokenBytes)).toString("hex");
    this.#ends.set(digestOf(token), this.#clock.monotonic() + linkLifeTicks);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > linksMax && oldest !== undefined) this.#ends.delete(oldest);
    return token;
  }

  /** Uses up a token; returns whether it was valid. */
  redeem(token: string): boolean {
    const digest = digestOf(token);
    const end = this.#ends.get(digest);
    this.#ends.delete(digest);
    return end !== undefined && this.#clock.monotonic() < end;
  }
}

const cookieName = "etagere-session";

/** The Set-Cookie header of a login. `secure`: whether the page was loaded over HTTPS. */
export function sessionCookie(value: string, secure: boolean): string {
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}

/** The Set-Cookie header that removes the cookie at logout. */
export function expiredCookie(secure: boolean): string {
  return `${sessionCookie("", secure)}; Max-Age=0`;
}

/** The value of the session cookie in a Cookie header; undefined if there is none. */
export function sessionCookieOf(header: string | undefined): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === cookieName) return value;
  }
  return undefined;
}

/** Compares secrets in constant time, as digests of equal length: neither content nor length is
 *  revealed. */
export function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(secretDigestOf(left), secretDigestOf(right));
}

function secretDigestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

/** Whether a text is one of these secrets. Compares it with all of them, so that the time does not
 *  reveal which one it is. */
function isAny(given: string, secrets: readonly (string | undefined)[]): boolean {
  const same = secrets.map((each) => each !== undefined && isSameSecret(given, each));
  return same.includes(true);
}

/** A token of this length has 128 bits if it is random, even with hexadecimal digits alone. */
const longTokenUnits = 32;

/** Failed logins that are permitted per address and minute. */
const failuresMax = 10;
/** Failures per minute, summed over all addresses: an attacker may use many addresses. */
const totalFailuresMax = 200;
/** Bounds memory: beyond this, the address whose last failure is oldest is forgotten. */
const addressesMax = 1000;
const windowTicks = 60n * ticksPerSecond;

/** Limits failed logins and token requests. An address with too many failures in the last minute
 *  must wait. If all addresses together have too many, every address must wait. */
export class FailureLimiter {
  /** Times of the latest failures; the address that failed last is at the end. */
  readonly #byAddress = new Map<string, readonly Ticks[]>();
  #total: readonly Ticks[] = [];

  /** Whole seconds until the next attempt is accepted; 0 if it is accepted now. */
  waitSeconds(address: string, now: Ticks): number {
    const own = waitTicks(this.#byAddress.get(address) ?? [], failuresMax, now);
    const all = waitTicks(this.#total, totalFailuresMax, now);
    const longer = own > all ? own : all;
    return Number((longer + ticksPerSecond - 1n) / ticksPerSecond);
  }

  failed(address: string, now: Ticks): void {
    const own = [...(this.#byAddress.get(address) ?? []), now].slice(-failuresMax);
    this.#byAddress.delete(address);
    this.#byAddress.set(address, own);
    this.#total = [...this.#total, now].slice(-totalFailuresMax);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > addressesMax && oldest !== undefined) this.#byAddress.delete(oldest);
  }
}

function waitTicks(failures: readonly Ticks[], countMax: number, now: Ticks): Ticks {
  const [oldest] = failures;
  if (oldest === undefined || failures.length < countMax) return 0n;
  const left = oldest + windowTicks - now;
  return left > 0n ? left : 0n;
}

/** How the admin listener authenticates; `server/admin-listener.ts` derives it from the options. */
export interface AdminSecurity {
  /** Whether callers must log in. Evaluated for each request, because accounts can be reloaded. */
  readonly isLoginRequired: () => boolean;
  /** Whether the metrics require a login. They name no account, so on a loopback address they do
   *  not. */
  readonly isMetricsLoginRequired: boolean;
  readonly token: string | undefined;
  /** The token in `admin.json` of the data folder, with which commands log in. */
  readonly localToken: string | undefined;
}

interface AdminAuthOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly security: AdminSecurity;
}

/** Header that programs must send to the admin API. A page of another site, and a server that
 *  fetches a copy source, cannot send it, so that neither can use the API. */
export const adminHeader = "x-etagere-admin";
const bearer = "Bearer ";

type RequestHead = Pick<AdminRequest, "headers" | "remoteAddress">;

/** Authenticates the callers of the routes, and determines what they administer (`Grant`). */
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

  /** Checks origin, host and the required header before the credentials; returns the rejection. */
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

  /** The session of a cookie, without extending it. Undefined if it has ended, or its account key,
   *  principal or token is not valid any more. */
  sessionOf(cookie: string | undefined): Session | undefined {
    return this.#stillGood(this.sessions.peek(cookie));
  }

  /** Verifies the credentials of a login or request with `prove`, and counts failures per address;
   *  an address with too many is rejected without verification. */
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
    return isAny(given, [token, localToken]);
  }

  /** The grant of a token that is too long to be guessed, accepted also from an address with too
   *  many failures. Otherwise a program with a wrong token would lock out all others behind its
   *  address: commands with the token of `admin.json`, and the scrapes of Prometheus. Shorter
   *  tokens and account keys stay limited: an address that must wait could test guesses at full
   *  speed if the right one were accepted. */
  ofLongToken(given: string): Credentials | undefined {
    const { token = "", localToken } = this.#options.security;
    const long = token.length >= longTokenUnits ? token : undefined;
    return isAny(given, [long, localToken]) ? { grant: serverGrant, key: undefined } : undefined;
  }

  isKeyOf(account: string, key: string): boolean {
    // An unknown account is compared, too, so the response time does not reveal whether it exists.
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
    const proven =
      this.ofLongToken(given) ??
      this.attempt(remoteAddress, () =>
        this.isToken(given) ? { grant: serverGrant, key: undefined } : undefined,
      );
    return "refusal" in proven ? proven : { grant: proven.grant, isValid: () => true };
  }

  /** The session, or undefined if its account key was replaced, or its principal or token is not
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

/** What a login proved: the grant of the caller. */
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
