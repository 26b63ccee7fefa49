import { anonymousPrincipal } from "../protocol/principal.ts";
import type { Address } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { AuthRequest } from "./auth/request.ts";
import {
  locationOptions,
  type HttpService,
  type AuthenticatedCaller,
  type RequestState,
  type RequestTarget,
} from "./http-service.ts";
import { locate, type Location } from "./location.ts";
import { requestVersion, warnOfLaterVersion } from "./request-version.ts";
import type { WireRequest } from "./wire.ts";

/** Reads off the request line where it points and under which version. */
export function resolveTarget(
  door: HttpService,
  request: WireRequest,
  progress: RequestState,
): Result<RequestTarget> {
  const location = locate(request, locationOptions(door));
  if (!location.ok) return location;
  const version = readVersion(door, request, location.value);
  if (!version.ok) return version;
  progress.version = version.value;
  const address = identify(door, request, location.value);
  if (!address.ok) return address;
  return ok({ location: location.value, address: address.value, version: version.value });
}

function readVersion({ options, log }: HttpService, request: WireRequest, { query }: Location) {
  const version = requestVersion(request, query, options.versions);
  if (version.ok && options.versions === "later") {
    warnOfLaterVersion(log, version.value);
    warnOfLaterVersion(log, query.get("sv"));
  }
  return version;
}

/** A preflight asks about the service, whatever path it names. */
function identify(
  { service }: HttpService,
  { method }: WireRequest,
  { path, query, website }: Location,
): Result<Address> {
  if (website && service.identifyPage !== undefined) return service.identifyPage(path);
  return method === "OPTIONS" ? service.identify("", query) : service.identify(path, query);
}

export function authenticate(
  door: HttpService,
  request: WireRequest,
  target: RequestTarget,
): Result<AuthenticatedCaller> {
  const { accounts, authenticator, options } = door;
  const settings = accounts.get(target.location.account);
  if (settings === undefined) return fail("ResourceNotFound");
  // A browser repeats the signature of the request it asks about, which is for another method.
  if (request.method === "OPTIONS") return ok({ principal: anonymousPrincipal, settings });
  const principal = authenticator.authenticate(
    authRequestOf(door, request, target),
    settings.keys,
    { sharedKeyAllowed: settings.sharedKey, oauth: options.oauth, versions: options.versions },
  );
  return principal.ok ? ok({ principal: principal.value, settings }) : principal;
}

/** What authentication looks at. */
export function authRequestOf(
  { service, clock }: HttpService,
  request: WireRequest,
  { location, address, version }: RequestTarget,
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
  };
}
