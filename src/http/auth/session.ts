import { createSecretKey, type KeyObject } from "node:crypto";
import type { Ticks } from "../../base/ticks.ts";
import {
  authenticationFailed,
  malformedAuthorization,
} from "../../protocol/authentication-faults.ts";
import type { BearerPrincipal, Principal } from "../../protocol/principal.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { isSignedBy, sign, verifySigned, type KeyRing } from "./shared-key.ts";
import type { AuthRequest } from "./request.ts";

/** Sessions for reading one container (Create Session): a token and a key that a client uses
 *  instead of its bearer token. `http/request/prepare.ts` creates them; `authenticator.ts` verifies
 *  them. */

/** The caller and the container that a session is for. */
interface SessionClaims {
  readonly account: string;
  readonly container: string;
  readonly expiry: Ticks;
  readonly principal: BearerPrincipal;
}

/** The claims in the payload of a session token, in this order. */
type WrittenClaims = readonly [
  account: string,
  container: string,
  expiry: string,
  objectId: string,
  tenantId: string,
  groups: readonly string[] | null,
];

/** A token and its key. Both are derived from the account key and not stored: every process can
 *  verify them, and replacing the key ends all sessions. */
export function newSession(accountKey: string, claims: SessionClaims) {
  const key = createSecretKey(Buffer.from(accountKey, "base64"));
  const { account, container, expiry, principal } = claims;
  const { objectId, tenantId, groups } = principal;
  const written: WrittenClaims = [
    account,
    container,
    String(expiry),
    objectId,
    tenantId,
    groups ?? null,
  ];
  const payload = Buffer.from(JSON.stringify(written)).toString("base64url");
  const token = `${payload}.${sign(key, proofText(payload))}`;
  return { token, key: sessionKeyOf(key, token) };
}

function proofText(payload: string): string {
  return `session token\n${payload}`;
}

function sessionKeyOf(accountKey: KeyObject, token: string): string {
  return sign(accountKey, `session key\n${token}`);
}

/** Verifies the credentials of `Authorization: Session token:signature`. The caller is the user who
 *  created the session; roles are checked with each request. A session is limited to reading one
 *  container, so that no request with it can name another resource. */
export function authenticateSession(
  request: AuthRequest,
  ring: KeyRing,
  credentials: string,
): Result<Principal> {
  const colon = credentials.lastIndexOf(":");
  if (colon <= 0 || colon === credentials.length - 1) return malformedAuthorization();
  const token = credentials.slice(0, colon);
  const dot = token.indexOf(".");
  const [payload, proof] = [token.slice(0, Math.max(dot, 0)), token.slice(dot + 1)];
  const accountKey = ring.keys.find((key) => isSignedBy(key, proofText(payload), proof));
  if (accountKey === undefined) return authenticationFailed("The session token is not valid");
  const claims = readClaims(payload);
  if (claims.account !== request.account || request.wallNow >= claims.expiry) {
    return authenticationFailed("The session has expired");
  }
  const key = createSecretKey(Buffer.from(sessionKeyOf(accountKey, token), "base64"));
  const signed = verifySigned(request, [key], "SharedKey", credentials.slice(colon + 1));
  if (!signed.ok) return signed;
  const isRead = request.method === "GET" || request.method === "HEAD";
  const isInside = request.service === "blob" && request.resource.name === claims.container;
  return isRead && isInside ? ok(claims.principal) : fail("AuthorizationFailure");
}

/** Reads the payload of a token. Its signature was verified before, so it is one that this server
 *  has written. */
function readClaims(payload: string): SessionClaims {
  const text = Buffer.from(payload, "base64url").toString();
  const [account, container, expiry, objectId, tenantId, groups] = JSON.parse(
    text,
  ) as WrittenClaims;
  const principal = { kind: "bearer", objectId, tenantId, ...(groups && { groups }) } as const;
  return { account, container, expiry: BigInt(expiry), principal };
}
