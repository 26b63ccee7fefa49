import { createHash, timingSafeEqual } from "node:crypto";
import type { Accounts } from "../../account/settings.ts";
import { formatIso } from "../../core/dates.ts";
import type { Clock, Random } from "../../core/world.ts";
import { json, refuse, type Answer } from "../answer.ts";
import { optional, aText } from "../inputs.ts";
import type { AdminRequest, CheckedRequest, JsonObject } from "../request.ts";
import type { Route } from "../routes.ts";
import { Attempts } from "./attempts.ts";
import { Sessions, type Session } from "./sessions.ts";
import { isCrossSite, isOwnHost } from "./same-origin.ts";

export interface GateOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly loginRequired: boolean;
  readonly token: string | undefined;
}

const cookieName = "etagere-session";
const bearer = "Bearer ";

/** Who may come in. */
export class Gate {
  readonly #options: GateOptions;
  readonly #sessions: Sessions;
  readonly #attempts = new Attempts();

  constructor(options: GateOptions) {
    this.#options = options;
    this.#sessions = new Sessions(options.clock, options.random);
  }

  /** Why a request to the API or a service is not even looked at. */
  checkOrigin({ headers }: Pick<AdminRequest, "headers">): Answer | undefined {
    if (isCrossSite(headers)) return refuse(403, "CrossSite", "not from a page of another site");
    if (this.#options.loginRequired || isOwnHost(headers.host)) return undefined;
    return refuse(421, "WrongHost", "use an address or localhost, or start with --adminToken");
  }

  /** Nothing if the caller may go on; `renewed` is a cookie for the answer. */
  checkLogin(request: Pick<AdminRequest, "headers" | "secure" | "remoteAddress">): Admission {
    if (!this.#options.loginRequired) return { refusal: undefined };
    const authorization = request.headers.authorization ?? "";
    if (authorization.startsWith(bearer)) {
      return this.#checkBearer(authorization.slice(bearer.length), request.remoteAddress);
    }
    const found = this.#sessions.check(cookieOf(request.headers.cookie));
    if (found === undefined) return { refusal: refuse(401, "LoginRequired", "log in first") };
    if (!found.isNew) return { refusal: undefined };
    return { refusal: undefined, renewed: cookieText(found.session, request.secure) };
  }

  routes(): readonly Route[] {
    const path = "/admin/v1/session";
    const open = true;
    const query = {};
    const body = { account: optional(aText), key: optional(aText), token: optional(aText) };
    return [
      { method: "GET", path, open, query, answer: (request) => this.#tell(request) },
      { method: "POST", path, open, query, body, answer: (request) => this.#logIn(request) },
      { method: "DELETE", path, open, query, answer: ({ secure }) => loggedOut(secure) },
    ];
  }

  #tell({ headers }: AdminRequest): Answer {
    const { loginRequired, token } = this.#options;
    const found = this.#sessions.check(cookieOf(headers.cookie));
    const expiresAt = found && formatIso(found.session.expires);
    const methods = token === undefined ? ["key"] : ["key", "token"];
    const loggedIn = !loginRequired || found !== undefined;
    return json({ loginRequired, loggedIn, methods, ...(expiresAt && { expiresAt }) });
  }

  #logIn(request: CheckedRequest): Answer {
    const { account, key, token } = request.body;
    // Nothing was guessed.
    const isProof = isGiven(token) || (isGiven(account) && isGiven(key));
    if (!isProof) return refuse(400, "InvalidInput", "account and key, or token, are missing");
    const refusal = this.#attempt(request.remoteAddress, () => this.#isProof(request.body));
    if (refusal !== undefined) return refusal;
    const session = this.#sessions.begin();
    const cookie = cookieText(session, request.secure);
    const answer = { loggedIn: true, expiresAt: formatIso(session.expires) };
    return json(answer, 200, { "Set-Cookie": cookie });
  }

  #checkBearer(given: string, address: string): Admission {
    const { token } = this.#options;
    return { refusal: this.#attempt(address, () => token !== undefined && isSame(given, token)) };
  }

  #attempt(address: string, succeeds: () => boolean): Answer | undefined {
    const now = this.#options.clock.monotonic();
    const wait = this.#attempts.waitSeconds(address, now);
    if (wait > 0) {
      const headers = { "Retry-After": String(wait) };
      return refuse(429, "TooManyAttempts", "too many failed attempts; wait a while", headers);
    }
    if (succeeds()) return undefined;
    this.#attempts.failed(address, now);
    return refuse(401, "LoginFailed", "the account and its key, or the token, are not right");
  }

  #isProof({ account, key, token }: JsonObject): boolean {
    const { token: expected, accounts } = this.#options;
    if (typeof token === "string") return expected !== undefined && isSame(token, expected);
    if (typeof account !== "string" || typeof key !== "string") return false;
    // Also for an account that does not exist, so that the time tells nothing.
    const keys = accounts.get(account)?.keys ?? [""];
    const same = keys.map((each) => isSame(key, each));
    return key !== "" && same.includes(true);
  }
}

export interface Admission {
  readonly refusal: Answer | undefined;
  readonly renewed?: string;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function loggedOut(secure: boolean): Answer {
  return { status: 204, headers: { "Set-Cookie": `${attributes("", secure)}; Max-Age=0` } };
}

function cookieText({ value }: Session, secure: boolean): string {
  return attributes(value, secure);
}

function attributes(value: string, secure: boolean): string {
  return `${cookieName}=${value}; Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}

function cookieOf(header: string | undefined): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === cookieName) return value;
  }
  return undefined;
}

/** Digests have one length, so that neither content nor length shows in the time it takes. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
