import { invalidHeader } from "../protocol/faults.ts";
import {
  isLaterVersion,
  isKnownVersion,
  isVersionDate,
  latestVersion,
} from "../protocol/versions.ts";
import type { VersionPolicy } from "../protocol/versions.ts";
import type { Log } from "../base/world.ts";
import type { Query } from "./params.ts";
import type { AccountSettings } from "../account/settings.ts";
import { anonymousPrincipal } from "../protocol/principal.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Address } from "../operation/operation.ts";
import { fail, ok } from "../protocol/result.ts";
import type { Result } from "../protocol/result.ts";
import type { Awaitable } from "../base/awaitable.ts";
import type { AuthRequest, OAuthMode } from "./auth/request.ts";
import { locationOptions } from "./http-service.ts";
import type { HttpService } from "./http-service.ts";
import { locate } from "./location.ts";
import type { Location } from "./location.ts";
import type {
  AddressedRequest,
  AuthenticatedRequest,
  LocatedRequest,
  ReceivedRequest,
} from "./request-context.ts";
import type { WireRequest } from "./wire.ts";

/** Reads account, path and version from the request line and the headers. */
export function locateRequest(
  http: HttpService,
  { request, requestId }: ReceivedRequest,
): Result<LocatedRequest> {
  const location = locate(request, locationOptions(http));
  if (!location.ok) return location;
  const version = readVersion(http, request, location.value);
  if (!version.ok) return version;
  return ok({ request, requestId, location: location.value, version: version.value });
}

/** Finds the resource of the service that the path addresses. */
export function identifyTarget(
  http: HttpService,
  { request, requestId, location, version }: LocatedRequest,
): Result<AddressedRequest> {
  const address = identify(http, request, location);
  if (!address.ok) return address;
  return ok({ request, requestId, location, version, address: address.value });
}

function readVersion({ options, log }: HttpService, request: WireRequest, { query }: Location) {
  const version = requestVersion(request, query, options.versions);
  if (version.ok && options.versions === "later") {
    warnOfLaterVersion(log, version.value);
    warnOfLaterVersion(log, query.get("sv"));
  }
  return version;
}

/** A CORS preflight (OPTIONS) addresses the service, whatever its path is, except on the website
 *  endpoint, where every path is a page. */
function identify(
  { service }: HttpService,
  { method }: WireRequest,
  { path, query, website }: Location,
): Result<Address> {
  if (website && service.identifyPage !== undefined) return service.identifyPage(path);
  return method === "OPTIONS" ? service.identify("", query) : service.identify(path, query);
}

/** How bearer tokens are checked; undefined: they are rejected. */
export function oauthMode({
  options,
  tokens,
}: Pick<HttpService, "options" | "tokens">): OAuthMode | undefined {
  return options.oauth ?? (tokens?.isConfigured === true ? "verify" : undefined);
}

const bearerForm = /^bearer /i;

/** Verifies the signature of a bearer token. Only its first use takes time, and the network only if
 *  the issuer has a new key. */
export function verifyToken(
  http: HttpService,
  addressed: AddressedRequest,
): Awaitable<AddressedRequest> {
  const { headers, secure } = addressed.request;
  const { authorization } = headers;
  if (http.tokens === undefined || authorization === undefined || !secure) return addressed;
  if (!bearerForm.test(authorization) || oauthMode(http) !== "verify") return addressed;
  const verdict = http.tokens.verify(authorization.slice("bearer ".length).trim());
  if (!(verdict instanceof Promise)) return { ...addressed, token: verdict };
  return verdict.then((found) => ({ ...addressed, token: found }));
}

/** Checks the signature of the request, or the token that `verifyToken` verified. */
export function authenticate(
  http: HttpService,
  addressed: AddressedRequest,
): Result<AuthenticatedRequest> {
  const { request, requestId, location, version, address } = addressed;
  const settings = http.accounts.get(location.account);
  if (settings === undefined) return fail("ResourceNotFound");
  const principal = principalOf(http, addressed, settings);
  if (!principal.ok) return principal;
  return ok({
    request,
    requestId,
    location,
    version,
    address,
    principal: principal.value,
    settings,
  });
}

const anonymous = ok(anonymousPrincipal);

function principalOf(
  http: HttpService,
  addressed: AddressedRequest,
  { keys, sharedKey }: AccountSettings,
): Result<Principal> {
  // A preflight request repeats the signature of the request that it precedes, which has another
  // method.
  if (addressed.request.method === "OPTIONS") return anonymous;
  const { versions } = http.options;
  const policy = { sharedKeyAllowed: sharedKey, oauth: oauthMode(http), versions };
  return http.authenticator.authenticate(authRequestOf(http, addressed), keys, policy);
}

/** The parts of a request that authentication reads. */
export function authRequestOf(
  { service, clock }: HttpService,
  { request, location, address, version, token }: AddressedRequest,
): AuthRequest {
  return {
    service: service.name,
    resource: service.signedName(address),
    method: request.method,
    account: location.account,
    rawPath: location.rawPath,
    query: location.query.values,
    rawHeaders: request.rawHeaders,
    version,
    header: (name) => request.headers[name],
    secure: request.secure,
    remoteAddress: request.remoteAddress,
    wallNow: clock.wall(),
    clientNow: clock.machineWall?.(),
    token,
  };
}

/** The version of anonymous requests without a version. It has every header that readers of public
 *  blobs need. */
const anonymousVersion = "2014-02-14";

/** The version of a request: from `api-version`, else from the header, else from the SAS. A request
 *  with credentials and without a version gets the latest, as in Azurite. Versions are compared as
 *  text, so a version later than all known ones has all features; the response repeats it, as
 *  client libraries expect. */
function requestVersion(
  { headers }: WireRequest,
  query: Query,
  policy: VersionPolicy,
): Result<string> {
  const given = query.get("api-version") || headers["x-ms-version"] || query.get("sv");
  if (given === undefined || given === "") {
    return ok(headers["authorization"] === undefined ? anonymousVersion : latestVersion);
  }
  if (isKnownVersion(given)) return ok(given);
  if (policy === "any") return ok(isVersionDate(given) ? given : latestVersion);
  if (policy === "later" && isLaterVersion(given)) return ok(given);
  return invalidHeader("x-ms-version", given);
}

/** Limit of `warnedVersions`, because a client could send any number of versions. */
const warnedVersionsMax = 16;
const warnedVersions = new WeakMap<Log, Set<string>>();

/** Logs a version that is later than all known ones, once per version. */
function warnOfLaterVersion(log: Log, version: string | undefined): void {
  if (version === undefined || isKnownVersion(version) || !isLaterVersion(version)) return;
  const warned = warnedVersions.get(log) ?? new Set();
  if (warned.size >= warnedVersionsMax || warned.has(version)) return;
  warnedVersions.set(log, warned.add(version));
  const fields = { version, newestKnown: latestVersion };
  log.warn(fields, "x-ms-version is later than the newest known one; serving it as the newest");
}
