import { invalidHeader } from "../../protocol/faults.ts";
import {
  isKnownVersion,
  isLaterVersion,
  isVersionDate,
  latestVersion,
  type VersionPolicy,
} from "../../protocol/versions.ts";
import type { Log } from "../../base/world.ts";
import type { Accounts, AccountSettings } from "../../account/settings.ts";
import { noCredentials } from "../../protocol/authentication-faults.ts";
import { anonymousPrincipal, type Principal } from "../../protocol/principal.ts";
import type { Address } from "../../operation/operation.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import type { Awaitable } from "../../base/awaitable.ts";
import type { AuthOptions, AuthRequest, OAuthMode } from "../auth/request.ts";
import type { HttpService, HttpServiceOptions } from "../http-service.ts";
import type {
  AddressedRequest,
  AuthenticatedRequest,
  LocatedRequest,
  ReceivedRequest,
} from "./request-context.ts";
import type { WireRequest } from "../wire.ts";
import { checkContainerName, type ServiceName, decodePercent } from "../../protocol/names.ts";
import type { AccountPlace } from "../../operation/service.ts";
import type { ParamReader } from "../../protocol/params.ts";
import { memo, memoByObject } from "../../process/memo.ts";

/** The first steps of a request: find account, version and resource in URL and headers, and
 *  authenticate the caller. Parts of batches and copy sources take them, too. */

/** Reads account, path and version from the request line and the headers. */
export function locateRequest(
  http: HttpService,
  { request, requestId }: ReceivedRequest,
): Result<LocatedRequest> {
  const location = locate(request, http);
  if (!location.ok) return location;
  const version = readVersion(http, request, location.value);
  if (!version.ok) return version;
  return ok({ request, requestId, location: location.value, version: version.value });
}

/** Finds the resource that the path addresses: a container or blob, for example. `isPart` is true
 *  for a part of a table transaction, which is authenticated with its transaction. */
export function identifyTarget(
  http: HttpService,
  { request, requestId, location, version }: LocatedRequest,
  { isPart = false } = {},
): Result<AddressedRequest> {
  const address = identify(http, request, location);
  if (!address.ok) {
    const { service } = http;
    const hasCredentials = request.headers["authorization"] ?? location.query.get("sig");
    const isAnonymous = !isPart && !hasCredentials;
    const isHidden = service.dialect?.rejectsAnonymousFirst === true && isAnonymous;
    if (isHidden) return noCredentials(service.name, version);
    return withUriPath(address, request, location);
  }
  return ok({ request, requestId, location, version, address: address.value });
}

/** Adds the URL without its query to the fault InvalidUri, as Azure does. */
function withUriPath(failure: Failure, request: WireRequest, { rawPath }: Location): Failure {
  if (failure.fault.code !== "InvalidUri") return failure;
  const { host = "" } = request.headers;
  const path = `${request.secure ? "https" : "http"}://${host}${rawPath}`;
  return fail("InvalidUri", { elements: { UriPath: path } });
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

/** Verifies the signature of a bearer token. Takes time only at its first use: later ones are
 *  cached. Uses the network only if the issuer has a new key. */
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
  const settings = http.accounts.get(addressed.location.account);
  if (settings === undefined) return fail("ResourceNotFound");
  const principal = principalOf(http, addressed, settings);
  if (principal.ok) return ok(authenticatedAs(addressed, principal.value, settings));
  const other = withoutAccount(http, addressed);
  const otherPrincipal = other && principalOf(http, other, settings);
  if (otherPrincipal?.ok !== true) return principal;
  return ok(authenticatedAs(other ?? addressed, otherPrincipal.value, settings));
}

function authenticatedAs(
  { request, requestId, location, version, address }: AddressedRequest,
  principal: Principal,
  settings: AccountSettings,
): AuthenticatedRequest {
  return { request, requestId, location, version, address, principal, settings };
}

/** Reads the path of a rename in the second way if the URL may lack the account
 *  (`accountOfRename`): as starting with a filesystem that has the account's name. A SAS decides,
 *  because it is valid for one filesystem. Undefined if the path can be read in one way only. */
function withoutAccount(
  http: HttpService,
  addressed: AddressedRequest,
): AddressedRequest | undefined {
  const { request, location } = addressed;
  const { account, accountPlace, query, rawPath } = location;
  if (http.service.name !== "blob" || query.get("sig") === undefined) return undefined;
  if (accountPlace !== "path" || accountOfSource(request) !== account) return undefined;
  const path = decodePath(rawPath.slice(1));
  if (path === undefined) return undefined;
  const moved: Location = { ...location, path, accountPlace: "elsewhere" };
  const address = identify(http, request, moved);
  return address.ok ? { ...addressed, location: moved, address: address.value } : undefined;
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
  const options = new RequestAuthOptions(http, sharedKey);
  return http.authenticator.authenticate(authRequestOf(http, addressed), keys, options);
}

/** The authentication options of one request. `oauth` is a getter, because few requests have
 *  tokens and the settings of issuers are read for it. */
class RequestAuthOptions implements AuthOptions {
  readonly sharedKeyAllowed: boolean;
  readonly #http: HttpService;

  constructor(http: HttpService, sharedKeyAllowed: boolean) {
    this.#http = http;
    this.sharedKeyAllowed = sharedKeyAllowed;
  }

  get oauth(): OAuthMode | undefined {
    return oauthMode(this.#http);
  }

  get versions(): VersionPolicy {
    return this.#http.options.versions;
  }
}

/** Converts a request to the form that the `Authenticator` takes. */
export function authRequestOf(
  { service, clock }: HttpService,
  { request, location, address, version, token }: AddressedRequest,
): AuthRequest {
  return {
    service: service.name,
    resource: service.signedName(address, (name) => request.headers[name]),
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

/** Most unknown versions that are logged once each: a client could send any number of them. */
const warnedVersionsMax = 16;
const versionsWarnedOf = memoByObject<Log, Set<string>>(() => new Set());

/** Logs a version that is later than all known ones, once per version: the server treats it as the
 *  latest known one. */
function warnOfLaterVersion(log: Log, version: string | undefined): void {
  if (version === undefined || isKnownVersion(version) || !isLaterVersion(version)) return;
  const warned = versionsWarnedOf(log);
  if (warned.size >= warnedVersionsMax || warned.has(version)) return;
  warned.add(version);
  const fields = { version, newestKnown: latestVersion };
  log.warn(fields, "x-ms-version is later than the newest known one; serving it as the newest");
}

/** The parts of a request's URL: account, path and query. */
export interface Location {
  readonly account: string;
  /** Whether the request addresses the secondary endpoint. */
  readonly secondary: boolean;
  /** Whether the request addresses the static website of the account: `account.web.localhost` or
   *  `/account.web/…`. */
  readonly website: boolean;
  /** The path exactly as in the request line; signatures are computed from it. */
  readonly rawPath: string;
  /** The decoded path below the account, not beginning with a slash. */
  readonly path: string;
  readonly query: Query;
  /** The service URL as the client used it, e.g. `http://127.0.0.1:10000/account`. */
  readonly endpoint: string;
  /** Where the account is named: in the host, in the path, or neither, because the client library
   *  omits it (`accountOfRename`, `accountOfBatch`). */
  readonly accountPlace: AccountPlace;
}

/** The parts of `HttpService` that `locate` needs to find the account in a URL. */
interface LocatingService {
  readonly service: { readonly name: ServiceName };
  readonly accounts: Pick<Accounts, "get">;
  readonly options: Pick<HttpServiceOptions, "productStyle">;
}

const secondarySuffix = "-secondary";
const webSuffix = ".web";

export function locate(request: WireRequest, http: LocatingService): Result<Location> {
  const { target } = request;
  const mark = target.indexOf("?");
  const rawPath = pathOf(mark < 0 ? target : target.slice(0, mark));
  const query = parseQuery(mark < 0 ? "" : target.slice(mark + 1));
  if (!query.ok) return query;
  const host = request.headers["host"] ?? "";
  const hostAccount = http.options.productStyle ? accountOfHost(host, http) : undefined;
  const segment = firstSegment(rawPath);
  const website = hostAccount === undefined ? segment.endsWith(webSuffix) : isWebHost(host);
  const outsidePath =
    hostAccount ?? accountOfRename(request, rawPath, http) ?? accountOfBatch(request, segment);
  const named = outsidePath ?? segment;
  const accountPlace =
    hostAccount !== undefined ? "host" : outsidePath === undefined ? "path" : "elsewhere";
  const path = decodePath(outsidePath === undefined ? rawPath.slice(named.length + 1) : rawPath);
  if (path === undefined) return fail("InvalidUri");
  const label = website && named.endsWith(webSuffix) ? named.slice(0, -webSuffix.length) : named;
  const secondary = label.endsWith(secondarySuffix);
  const root = `${request.secure ? "https" : "http"}://${host}`;
  return ok({
    account: secondary ? label.slice(0, -secondarySuffix.length) : label,
    secondary,
    website,
    rawPath,
    path: path.startsWith("/") ? path.slice(1) : path,
    query: query.value,
    endpoint: hostAccount === undefined ? `${root}/${named}` : root,
    accountPlace,
  });
}

/** The path of a request target. Proxies send an absolute URL, whose host is ignored. */
function pathOf(target: string): string {
  if (target.startsWith("/")) return target;
  const match = /^https?:\/\/[^/]*(\/.*)?$/i.exec(target);
  return match?.[1] ?? "/";
}

/** The account in a host name (`account.blob.localhost`); undefined for `127.0.0.1` or
 *  `localhost`. */
function accountOfHost(host: string, http: LocatingService): string | undefined {
  const { name: service } = http.service;
  const dot = host.indexOf(".");
  if (dot <= 0) return undefined;
  const label = host.slice(0, dot).toLowerCase();
  const account = label.endsWith(secondarySuffix) ? label.slice(0, -secondarySuffix.length) : label;
  const rest = host.slice(dot + 1).toLowerCase();
  const namesService = names(rest, service) || (service === "blob" && names(rest, "dfs"));
  return namesService || isAccount(http, account) ? label : undefined;
}

export function isAccount({ accounts }: LocatingService, name: string): boolean {
  return accounts.get(name) !== undefined;
}

function names(rest: string, service: string): boolean {
  return rest === service || rest.startsWith(`${service}.`);
}

function isWebHost(host: string): boolean {
  return /^[^.]+\.web(?:\.|:|$)/i.test(host);
}

/** The account of a rename (Data Lake). The JavaScript client library omits the account in the path
 *  of the URL, but not in the source. A path that starts with the name of the account omits it only
 *  if its second name cannot be that of a container; otherwise what exists decides
 *  (`blob/resources.ts`). */
function accountOfRename(
  request: WireRequest,
  rawPath: string,
  http: LocatingService,
): string | undefined {
  const account = accountOfSource(request);
  const segment = firstSegment(rawPath);
  if (account === undefined || !isAccount(http, account)) return undefined;
  if (!isAccount(http, segment)) return account;
  const isInBoth = http.service.name === "blob" && segment === account;
  const second = firstSegment(rawPath.slice(segment.length + 1));
  return isInBoth && second !== "" && !checkContainerName(second).ok ? account : undefined;
}

/** The first name in the source of a rename, which may be an account. */
function accountOfSource({ headers }: WireRequest): string | undefined {
  const source = headers["x-ms-file-rename-source"] ?? headers["x-ms-rename-source"];
  return source === undefined ? undefined : firstSegment(pathOf(source));
}

/** The account of a part of a batch, which is always that of the batch: in Azure a part has no host
 *  of its own. The Java and older Python client libraries omit it in the path of a part:
 *  `DELETE /container/blob` in a batch for `/account?comp=batch`. */
function accountOfBatch({ batchAccount }: WireRequest, segment: string): string | undefined {
  const isNamed = segment === batchAccount || segment === `${batchAccount}${secondarySuffix}`;
  return isNamed ? undefined : batchAccount;
}

function firstSegment(rawPath: string): string {
  const end = rawPath.indexOf("/", 1);
  return end < 0 ? rawPath.slice(1) : rawPath.slice(1, end);
}

function decodePath(path: string): string | undefined {
  return path.includes("%") ? decodePercent(path) : path;
}

const noHeaders: readonly (readonly [string, string])[] = [];

/** The headers and query of a request for the parsers of parameters (`protocol/params.ts`). */
export class RequestParams implements ParamReader {
  readonly version: string;
  readonly #request: WireRequest;
  readonly #query: Query;

  constructor(request: WireRequest, query: Query, version: string) {
    this.version = version;
    this.#request = request;
    this.#query = query;
  }

  header(lowerName: string): string | undefined {
    return this.#request.headers[lowerName];
  }

  query(lowerName: string): string | undefined {
    return this.#query.get(lowerName);
  }

  headersWith(prefix: string): readonly (readonly [name: string, value: string])[] {
    const { rawHeaders } = this.#request;
    // Compares one character first: the prefix (`x-ms-meta-`) ends with a hyphen, which few other
    // headers have at this place.
    const last = prefix.length - 1;
    let found: (readonly [string, string])[] | undefined;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!;
      if (name.charCodeAt(last) !== prefix.charCodeAt(last)) continue;
      if (name.slice(0, prefix.length).toLowerCase() !== prefix) continue;
      (found ??= []).push([name, rawHeaders[at + 1]!]);
    }
    return found ?? noHeaders;
  }
}

/** Decoded query parameters by lower-case name. Of a repeated parameter operations use the first
 *  value; signatures contain all. */
export class Query {
  readonly values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.values = values;
  }

  get(name: string): string | undefined {
    return this.values.get(name)?.[0];
  }
}

/** Most parameters of a query: no operation has a tenth of them, and each costs time before the
 *  request is authenticated. */
const queryParametersMax = 128;

const noQuery = ok(new Query(new Map()));

/** Caches parsed queries: a client repeats its parameters, including the signature. That saves 20 %
 *  of the CPU time of a read. */
const parseRemembered = memo(1024, parseAnew);
/** Longest query whose parsed form is cached, in UTF-16 code units: the cache must not hold much
 *  memory for one client. */
const rememberedUnitsMax = 1024;

function parseQuery(text: string): Result<Query> {
  if (text === "") return noQuery;
  return text.length > rememberedUnitsMax ? parseAnew(text) : parseRemembered(text);
}

function parseAnew(text: string): Result<Query> {
  const parts = text.split("&");
  if (parts.length > queryParametersMax) return fail("InvalidUri");
  const values = new Map<string, string[]>();
  for (const part of parts) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals < 0 ? part : part.slice(0, equals))?.toLowerCase();
    const value = equals < 0 ? "" : decode(part.slice(equals + 1));
    if (name === undefined || value === undefined) return fail("InvalidUri");
    const present = values.get(name);
    if (present === undefined) values.set(name, [value]);
    else present.push(value);
  }
  return ok(new Query(values));
}

function decode(text: string): string | undefined {
  const isPlain = !text.includes("%") && !text.includes("+");
  return isPlain ? text : decodePercent(text.replaceAll("+", " "));
}
