import { formatIso } from "../../base/dates.ts";
import { json, refuse, type AdminResponse } from "../admin-response.ts";
import { optional, textCheck } from "../inputs.ts";
import type { AdminRequest, CheckedRequest, JsonObject } from "../request.ts";
import type { Route } from "../routes.ts";
import type { AdminAuth, Credentials } from "./admin-auth.ts";
import { serverGrant } from "./grant.ts";
import { expiredCookie, sessionCookie, sessionCookieOf } from "./session-cookie.ts";

/** Login, logout and the state of the login. */
export function sessionRoutes(auth: AdminAuth, hasToken: boolean): readonly Route[] {
  const path = "/admin/v1/session";
  const access = "open";
  const query = {};
  const text = optional(textCheck);
  const body = { account: text, key: text, token: text, link: text };
  const methods = hasToken ? ["key", "token"] : ["key"];
  return [
    { method: "GET", path, access, query, answer: (request) => describe(auth, request, methods) },
    { method: "POST", path, access, query, body, answer: (request) => logIn(auth, request) },
    { method: "DELETE", path, access, query, answer: (request) => logOut(auth, request) },
  ];
}

function describe(
  auth: AdminAuth,
  { headers }: AdminRequest,
  methods: readonly string[],
): AdminResponse {
  const session = auth.sessionOf(sessionCookieOf(headers.cookie));
  const loginRequired = auth.isLoginRequired;
  const loggedIn = !loginRequired || session !== undefined;
  const account = session?.grant.kind === "account" ? { account: session.grant.account } : {};
  const ends = session && { expiresAt: formatIso(session.expires), ...account };
  return json({ loginRequired, loggedIn, methods, ...ends });
}

function logIn(auth: AdminAuth, request: CheckedRequest): AdminResponse {
  const { account, key, token, link } = request.body;
  // A request without credentials does not count as a failed login.
  const isProof = isGiven(token) || isGiven(link) || (isGiven(account) && isGiven(key));
  if (!isProof) return refuse(400, "InvalidInput", "account and key, or token, are missing");
  const proven = auth.attempt(request.remoteAddress, () => provenBy(auth, request.body));
  if ("refusal" in proven) return proven.refusal;
  const value = auth.sessions.begin(proven);
  const session = auth.sessionOf(value);
  const ends = session && { expiresAt: formatIso(session.expires) };
  const administers = proven.grant.kind === "account" ? { account: proven.grant.account } : {};
  const headers = { "Set-Cookie": sessionCookie(value, request.secure) };
  return json({ loggedIn: true, ...ends, ...administers }, 200, headers);
}

function provenBy(
  auth: AdminAuth,
  { account, key, token, link }: JsonObject,
): Credentials | undefined {
  const server = { grant: serverGrant, key: undefined };
  if (typeof link === "string") return auth.links.redeem(link) ? server : undefined;
  if (typeof token === "string") return auth.isToken(token) ? server : undefined;
  if (typeof account !== "string" || typeof key !== "string") return undefined;
  return auth.isKeyOf(account, key) ? { grant: { kind: "account", account }, key } : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Ends the session itself, not only the browser's cookie. */
function logOut(auth: AdminAuth, { headers, secure }: AdminRequest): AdminResponse {
  auth.sessions.end(sessionCookieOf(headers.cookie));
  return { status: 204, headers: { "Set-Cookie": expiredCookie(secure) } };
}
