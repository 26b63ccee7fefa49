import { formatIso } from "../../base/dates.ts";
import { json, refuse, type AdminResponse } from "../admin-response.ts";
import { optional, aText } from "../inputs.ts";
import type { AdminRequest, CheckedRequest, JsonObject } from "../request.ts";
import type { Route } from "../routes.ts";
import type { AdminAuth, Proven } from "./admin-auth.ts";
import { serverGrant } from "./grant.ts";
import { expiredCookie, sessionCookie, sessionCookieOf } from "./session-cookie.ts";

/** Logging in and out. */
export function sessionRoutes(gate: AdminAuth, hasToken: boolean): readonly Route[] {
  const path = "/admin/v1/session";
  const access = "open";
  const query = {};
  const text = optional(aText);
  const body = { account: text, key: text, token: text, link: text };
  const methods = hasToken ? ["key", "token"] : ["key"];
  return [
    { method: "GET", path, access, query, answer: (request) => describe(gate, request, methods) },
    { method: "POST", path, access, query, body, answer: (request) => logIn(gate, request) },
    { method: "DELETE", path, access, query, answer: (request) => logOut(gate, request) },
  ];
}

function describe(
  gate: AdminAuth,
  { headers }: AdminRequest,
  methods: readonly string[],
): AdminResponse {
  const session = gate.sessionOf(sessionCookieOf(headers.cookie));
  const loginRequired = gate.isLoginRequired;
  const loggedIn = !loginRequired || session !== undefined;
  const account = session?.grant.kind === "account" ? { account: session.grant.account } : {};
  const ends = session && { expiresAt: formatIso(session.expires), ...account };
  return json({ loginRequired, loggedIn, methods, ...ends });
}

function logIn(gate: AdminAuth, request: CheckedRequest): AdminResponse {
  const { account, key, token, link } = request.body;
  // Nothing was guessed.
  const isProof = isGiven(token) || isGiven(link) || (isGiven(account) && isGiven(key));
  if (!isProof) return refuse(400, "InvalidInput", "account and key, or token, are missing");
  const proven = gate.attempt(request.remoteAddress, () => provenBy(gate, request.body));
  if ("refusal" in proven) return proven.refusal;
  const value = gate.sessions.begin(proven);
  const session = gate.sessionOf(value);
  const ends = session && { expiresAt: formatIso(session.expires) };
  const administers = proven.grant.kind === "account" ? { account: proven.grant.account } : {};
  const headers = { "Set-Cookie": sessionCookie(value, request.secure) };
  return json({ loggedIn: true, ...ends, ...administers }, 200, headers);
}

function provenBy(gate: AdminAuth, { account, key, token, link }: JsonObject): Proven | undefined {
  const server = { grant: serverGrant, key: undefined };
  if (typeof link === "string") return gate.links.redeem(link) ? server : undefined;
  if (typeof token === "string") return gate.isToken(token) ? server : undefined;
  if (typeof account !== "string" || typeof key !== "string") return undefined;
  return gate.isKeyOf(account, key) ? { grant: { kind: "account", account }, key } : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The session ends, not only the browser's copy of its cookie. */
function logOut(gate: AdminAuth, { headers, secure }: AdminRequest): AdminResponse {
  gate.sessions.end(sessionCookieOf(headers.cookie));
  return { status: 204, headers: { "Set-Cookie": expiredCookie(secure) } };
}
