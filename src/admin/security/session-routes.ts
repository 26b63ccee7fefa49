import type { LoginLink, LoginMethod, Session } from "../api-types.ts";
import { formatIso } from "../../base/dates.ts";
import { json, refuse, type AdminResponse } from "../admin-response.ts";
import { longTextCheck, optional, textCheck } from "../inputs.ts";
import type { AdminRequest, CheckedRequest } from "../request.ts";
import { declareRoute, type Route } from "../routes.ts";
import {
  expiredCookie,
  sessionCookie,
  sessionCookieOf,
  type AdminAuth,
  type Credentials,
} from "./admin-auth.ts";
import { serverGrant } from "./grant.ts";
import type { PrincipalLogin } from "./principal-login.ts";

/** What the routes of logins need: `AdminAuth`, which has the sessions, and the logins of
 *  principals. */
interface SessionParts {
  readonly auth: AdminAuth;
  readonly principals: PrincipalLogin;
  readonly hasToken: boolean;
}

/** The routes of login, logout and login state, and that of links for `etagere login`. */
export function sessionRoutes(parts: SessionParts): readonly Route[] {
  const { auth } = parts;
  const text = optional(textCheck);
  const long = optional(longTextCheck);
  const body = {
    account: text,
    key: text,
    token: text,
    link: text,
    principal: text,
    secret: text,
    bearer: long,
  };
  return [
    declareRoute("GET /admin/v1/session", "open", (request) => describe(parts, request)),
    declareRoute("POST /admin/v1/session", "open", (request) => logIn(parts, request), { body }),
    declareRoute("DELETE /admin/v1/session", "open", (request) => logOut(auth, request)),
    declareRoute("POST /admin/v1/session/links", "server", () => json(newLink(auth)), { body: {} }),
  ];
}

function newLink(auth: AdminAuth): LoginLink {
  return auth.isLoginRequired ? { link: auth.links.issue() } : {};
}

function describe(
  { auth, principals, hasToken }: SessionParts,
  { headers }: AdminRequest,
): AdminResponse {
  const session = auth.sessionOf(sessionCookieOf(headers.cookie));
  const loginRequired = auth.isLoginRequired;
  const loggedIn = !loginRequired || session !== undefined;
  const methods: readonly LoginMethod[] = [
    "key",
    ...(hasToken ? (["token"] as const) : []),
    ...principals.methods,
  ];
  const ends = session && { expiresAt: formatIso(session.expires), ...scopeOf(session) };
  return json({ loginRequired, loggedIn, methods, ...ends } satisfies Session);
}

function scopeOf({ grant }: Pick<Credentials, "grant">): Pick<Session, "account" | "principal"> {
  if (grant.kind === "account") return { account: grant.account };
  if (grant.kind === "server") return {};
  return { principal: { name: grant.name, objectId: grant.objectId } };
}

async function logIn(parts: SessionParts, request: CheckedRequest): Promise<AdminResponse> {
  const { auth } = parts;
  const { account, key, token, link, principal, bearer } = request.body;
  // A request without credentials does not count as a failed login.
  const isProof =
    [token, link, principal, bearer].some(isGiven) || (isGiven(account) && isGiven(key));
  if (!isProof) {
    const missing = "account and key, token, principal and secret, or bearer are missing";
    return refuse(400, "InvalidInput", missing);
  }
  // Verified before the limit is checked: no `await` may separate the check from the count.
  const verified =
    typeof bearer === "string" ? await parts.principals.withToken(bearer) : undefined;
  const proven =
    (typeof token === "string" ? auth.ofLongToken(token) : undefined) ??
    auth.attempt(request.remoteAddress, () =>
      verified === undefined ? provenBy(parts, request) : { grant: verified, key: undefined },
    );
  if ("refusal" in proven) return proven.refusal;
  const value = auth.sessions.begin(proven);
  const session = auth.sessionOf(value);
  const ends = session && { expiresAt: formatIso(session.expires) };
  const headers = { "Set-Cookie": sessionCookie(value, request.secure) };
  return json({ loggedIn: true, ...ends, ...scopeOf(proven) }, 200, headers);
}

function provenBy(parts: SessionParts, request: CheckedRequest): Credentials | undefined {
  const { auth } = parts;
  const { account, key, token, link, principal } = request.body;
  const server = { grant: serverGrant, key: undefined };
  if (typeof link === "string") return auth.links.redeem(link) ? server : undefined;
  if (typeof token === "string") return auth.isToken(token) ? server : undefined;
  if (typeof principal === "string") return provenPrincipal(parts, request, principal);
  if (typeof account !== "string" || typeof key !== "string") return undefined;
  return auth.isKeyOf(account, key) ? { grant: { kind: "account", account }, key } : undefined;
}

/** A caller that administers the server may take the place of any principal without its secret. */
function provenPrincipal(
  { auth, principals }: SessionParts,
  request: CheckedRequest,
  name: string,
): Credentials | undefined {
  const { secret } = request.body;
  const own = auth.authenticate(request, "server");
  const isServer = own.refusal === undefined;
  const isNameOnly = typeof secret !== "string" && isServer;
  const grant = isNameOnly
    ? principals.withName(name)
    : principals.withSecret(name, typeof secret === "string" ? secret : "");
  return grant && { grant, key: undefined };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Ends the session itself, not only the browser's cookie. */
function logOut(auth: AdminAuth, { headers, secure }: AdminRequest): AdminResponse {
  auth.sessions.end(sessionCookieOf(headers.cookie));
  return { status: 204, headers: { "Set-Cookie": expiredCookie(secure) } };
}
