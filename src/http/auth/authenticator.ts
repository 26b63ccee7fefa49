import type { AccountKeys } from "../../account/settings.ts";
import {
  authenticationFailed,
  malformedAuthorization,
  tokenRejected,
} from "../../protocol/authentication-faults.ts";
import {
  anonymousPrincipal,
  type BearerPrincipal,
  type Principal,
} from "../../protocol/principal.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { queryText } from "../../protocol/signing/request.ts";
import { authenticateSharedKey, KeyRings } from "./shared-key.ts";
import type { AuthOptions, AuthRequest } from "./request.ts";
import { authenticateSas } from "./sas.ts";
import { authenticateSession } from "./session.ts";
import { ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import { readClaims, type Claims } from "./claims.ts";
import {
  acceptToken,
  expired,
  isAudience,
  notYetValid,
  wrongAudience,
  wrongIssuer,
} from "./tokens/accept-token.ts";

/** Finds out who sent a request: by account key, SAS, bearer token or session, or that it is
 *  anonymous. `http/request/target.ts` calls the `Authenticator` for each request; what the caller
 *  may do is decided later (`authorise-call.ts`). */

/** The first x-ms-version in which the service accepts bearer tokens. */
const bearerSince = "2017-11-09";

/** Issuers of Entra ID in its public, national and test clouds, with the tenant id in the path. The
 *  first form accepts any path, because Azurite compares only the host, and tests written for
 *  Azurite use any path. */
const issuerForms: readonly RegExp[] = [
  /^https:\/\/sts\.(windows\.net|chinacloudapi\.cn|microsoftonline\.de)\//,
  /^https:\/\/sts\.windows-ppe\.net(\/|$)/,
  /^https:\/\/login\.(microsoftonline\.(com|us|de)|chinacloudapi\.cn)\/[^/]+\/v2\.0$/,
  /^https:\/\/login\.partner\.microsoftonline\.cn\/[^/]+\/v2\.0$/,
];

/** Authenticates a request with a bearer token. With `--oauth basic` only its claims are checked;
 *  otherwise its signature must have been verified (`verifyToken`). */
function authenticateBearer(
  request: AuthRequest,
  token: string,
  options: AuthOptions,
): Result<BearerPrincipal> {
  const isVerified = request.token !== undefined && request.token.refusal === undefined;
  // A verified token is well formed, and reading its claims again costs more than all other checks.
  const claims = isVerified ? undefined : readClaims(token);
  if (claims === undefined && !isVerified) return malformedAuthorization();
  const refused = (detail: string) => tokenRejected(request.service, request.version, detail);
  if (options.oauth === undefined)
    return refused("Bearer tokens are not accepted by this account.");
  if (request.version === undefined || request.version < bearerSince) {
    return authenticationFailed("Authentication scheme Bearer is not supported in this version.");
  }
  if (!request.secure) {
    return authenticationFailed("Authentication scheme Bearer is only supported over HTTPS.");
  }
  const isUnverified = options.oauth === "basic" && claims !== undefined;
  const checked = isUnverified ? unverified(claims, request) : verifyBearer(request);
  if (typeof checked === "string") return refused(checked);
  return ok(checked);
}

/** Checks only the claims, not the signature, so that no request to Entra ID is needed. Returns the
 *  caller, or the reason why the token is rejected. */
function unverified(claims: Claims, request: AuthRequest): BearerPrincipal | string {
  const objection = objectionTo(claims, request);
  if (objection !== undefined) return objection;
  const { oid: objectId = "", tid: tenantId = "", groups } = claims;
  return { kind: "bearer", objectId, tenantId, ...(groups && { groups }) };
}

/** Accepts a bearer token whose signature `verifyToken` has verified, if it is valid now and for
 *  this account. Returns the caller, or the reason for the rejection. */
function verifyBearer(request: AuthRequest): BearerPrincipal | string {
  const { token, account, service } = request;
  if (token === undefined) return "Signature validation failed.";
  if (token.refusal !== undefined) return token.refusal;
  return acceptToken(token, { account, service, now: unixSeconds(request) });
}

function unixSeconds({ wallNow }: AuthRequest): number {
  return Number((wallNow - unixEpochTicks) / ticksPerSecond);
}

function objectionTo(claims: Claims, request: AuthRequest): string | undefined {
  const now = unixSeconds(request);
  if (claims.exp === undefined || claims.exp <= now) return expired;
  if (claims.nbf !== undefined && claims.nbf > now) return notYetValid;
  if (!issuerForms.some((form) => form.test(claims.iss ?? ""))) return wrongIssuer;
  return isAudience(claims.aud ?? "", request) ? undefined : wrongAudience;
}

const anonymous = ok(anonymousPrincipal);

/** Authenticates requests. Caches decoded keys and verified tokens. Whether a request is permitted
 *  is decided each time, because roles and policies may change. */
export class Authenticator {
  readonly #rings = new KeyRings();

  authenticate(request: AuthRequest, keys: AccountKeys, options: AuthOptions): Result<Principal> {
    const authorization = request.header("authorization");
    if (hasSas(request) && (authorization === undefined || isUserBound(request))) {
      return this.#authenticateSas(request, keys, options);
    }
    if (authorization === undefined) return anonymous;
    const space = authorization.indexOf(" ");
    const scheme = authorization.slice(0, Math.max(space, 0)).toLowerCase();
    const credentials = authorization.slice(space + 1).trim();
    if (scheme === "bearer") return authenticateBearer(request, credentials, options);
    if (scheme === "session") {
      return authenticateSession(request, this.#rings.of(request.account, keys), credentials);
    }
    if (scheme !== "sharedkey" && scheme !== "sharedkeylite") return malformedAuthorization();
    if (!options.sharedKeyAllowed) return fail("KeyBasedAuthenticationNotPermitted");
    const ring = this.#rings.of(request.account, keys);
    const form = scheme === "sharedkey" ? "SharedKey" : "SharedKeyLite";
    return authenticateSharedKey(request, ring, form, credentials);
  }

  #authenticateSas(
    request: AuthRequest,
    keys: AccountKeys,
    options: AuthOptions,
  ): Result<Principal> {
    const verified = authenticateSas(request, this.#rings.of(request.account, keys), options);
    if (!verified.ok || !isUserBound(request)) return verified;
    return isPresentedByUser(request, options)
      ? verified
      : authenticationFailed("The signature is limited to a user who did not authenticate");
  }
}

/** Whether the query has fields of a SAS. A request with them must not count as anonymous, even if
 *  the signature is missing. */
function hasSas({ query }: AuthRequest): boolean {
  return query.has("sig") || (query.has("sv") && (query.has("sp") || query.has("si")));
}

/** Whether a SAS is bound to a user: it is valid only with a bearer token of the user that it
 *  names. */
function isUserBound(request: AuthRequest): boolean {
  return request.query.has("skoid") && queryText(request, "sduoid") !== "";
}

function isPresentedByUser(request: AuthRequest, options: AuthOptions): boolean {
  const [scheme = "", token = ""] = (request.header("authorization") ?? "").split(" ");
  if (scheme.toLowerCase() !== "bearer") return false;
  const bearer = authenticateBearer(request, token, options);
  if (!bearer.ok || bearer.value.objectId !== queryText(request, "sduoid")) return false;
  // An object id is unique only within a tenant, so the tenant is compared, too.
  const tenantId = queryText(request, "skdutid");
  return tenantId === "" || bearer.value.tenantId === tenantId;
}
