import { authoriseByAcl, authoriseWithRecord } from "../../protocol/authorise.ts";
import { authoriseCoverage, authoriseReach } from "../../protocol/named-resource.ts";
import type { LinkedResource } from "../../protocol/named-resource.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { anonymousPrincipal, type Principal } from "../../protocol/principal.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { cannotVerifySource, unverifiedSource } from "../../protocol/source-conditions.ts";
import { isRoleCaller, listCallerOf, listedUserOf } from "../../protocol/roles/role.ts";
import type { Access, AccountPlace } from "../../operation/service.ts";
import { withoutSignature } from "../../operation/source.ts";
import type { CopySource, OwnSource } from "../../operation/source.ts";
import { checkIntent, currentRoles, namedRoleCheck } from "../auth/authorise-call.ts";
import type { HttpService } from "../http-service.ts";
import { authenticate, isAccount, locate, verifyToken, type Location } from "../request/target.ts";
import type { WireRequest } from "../wire.ts";
import { wireRequestOf } from "./open-sources.ts";
import { fetchedPropertiesOf, requestSource, type SourceRequest } from "./source-reader.ts";
import {
  parseSourcePath,
  parseSourceUrl,
  requireClient,
  sourceRequestOf,
} from "./source-request.ts";

/** Finds the source of Copy Blob and of renames, and checks that the caller may read it. A source
 *  in the same service becomes a record that the transaction reads; for any other, a HEAD request
 *  finds its properties. Called by `http/request/prepare.ts`. */

/** What finding and authorising a source depends on: parts of the request that names it. */
interface SourceContext {
  readonly account: string;
  readonly principal: Principal;
  readonly version: string;
  /** How the operation declares its source: the header that names it, and the permission that is
   *  needed. `below` is set for renames of paths (Data Lake): their header has a path below the
   *  account instead of a URL. */
  readonly linked: LinkedResource;
  /** The service URL that the client used. */
  readonly endpoint: string;
  readonly accountPlace: AccountPlace;
}

/** Finds the source of a copy or rename: a record of this service, or a source to be fetched. */
export async function resolveSource(
  http: HttpService,
  request: WireRequest,
  context: SourceContext,
): Promise<Result<CopySource>> {
  const { below, parameter } = context.linked;
  if (below === "account") return sourceBelowAccount(http, request, context);
  const parsed = parseSourceUrl(request, context.version, parameter);
  if (!parsed.ok) return parsed;
  const url = parsed.value;
  const { sources } = http;
  const service = sources.serviceOf(url, request.headers["host"] ?? "");
  const use = { url, method: "HEAD", version: context.version } as const;
  const outgoing = { ...sourceRequestOf(request, use), service };
  const { signal, remoteAddress, secure } = outgoing;
  if (service === http.service.name) return ownSource(http, outgoing, context);
  const response = await requestSource(sources.read, outgoing);
  response.close();
  requireClient(signal);
  const { status, reason, failure } = response;
  const code = response.headers["x-ms-error-code"];
  if (failure !== undefined) return fail("CannotVerifyCopySource", { status, subject: failure });
  if (status === 412 || status === 304) return fail("SourceConditionNotMet");
  if (status >= 300) {
    const reported = status >= 400 ? status : 409;
    const detail = { status: reported, ...(reason && { message: reason }) };
    return cannotVerifySource({ status, code, message: reason }, context.version, detail);
  }
  // The URL keeps its signature, because the bytes will be fetched with it.
  const otherService = service && { service, remoteAddress, secure };
  return ok({
    kind: "fetched",
    url: url.href,
    otherService,
    properties: fetchedPropertiesOf(response),
  });
}

/** Finds the source of a rename of a path. The account in the header may also be the name of a
 *  filesystem; the result then has a source for both readings of the header, of which the
 *  transaction uses the one that exists. */
async function sourceBelowAccount(
  http: HttpService,
  request: WireRequest,
  context: SourceContext,
): Promise<Result<CopySource>> {
  const urls = parseSourcePath(request.headers[context.linked.parameter] ?? "", context);
  if (!urls.ok) return urls;
  const { version } = context;
  const resolve = (url: URL) =>
    ownSource(http, sourceRequestOf(request, { url, method: "GET", version }), context);
  const [first, second] = await Promise.all(urls.value.map(resolve));
  if (first === undefined) return fail("InvalidSourceUri");
  if (second?.ok !== true) return first;
  return first.ok ? ok({ ...first.value, alternative: second.value }) : second;
}

async function ownSource(
  http: HttpService,
  outgoing: SourceRequest,
  context: SourceContext,
): Promise<Result<OwnSource>> {
  const source = wireRequestOf({ ...outgoing, method: "GET" });
  const location = locate(source, http);
  if (!location.ok) return malformed(location, context);
  const { account, path, query } = location.value;
  // `..` in the path could lead to another account, for which the credentials of the request are
  // not valid.
  const isOutside = context.linked.below === "account" && account !== context.account;
  if (isOutside) return fail("InvalidSourceUri");
  if (!isAccount(http, account)) return unverifiedSource(fail("ResourceNotFound"), context.version);
  const address = http.service.identify(path, query);
  if (!address.ok) return malformed(address, context);
  const principal = await principalOf(http, source, location.value, context);
  if (!principal.ok) return unverified(principal, context);
  return ok({
    kind: "same-service",
    url: withoutSignature(outgoing.url.href),
    account,
    address: address.value,
    isSameAccount: account === context.account,
    hasScopeKeys: http.runtime.content.scopeKeys !== undefined,
    authorise: (access) => {
      const { name = "", path: below } = http.service.signedName(address.value);
      const isSigned = context.linked.below !== "account";
      const covered = isSigned || authoriseCoverage(principal.value, { name, path: below });
      if (covered !== true && !covered.ok) return covered;
      const reach = { input: {}, isFile: access?.isFile };
      const reached = authoriseReach(principal.value, context.linked.permission, reach);
      if (!reached.ok) return unverified(reached, context);
      const listed = authoriseReader(http, principal.value, { account, name }, context, access);
      if (!listed.ok) return unverified(listed, context);
      return authoriseRead(http, principal.value, access, { ...context, account });
    },
  });
}

/** Checks roles and access control lists of the source for its reader. A role that permits reading
 *  is enough, except for the user that a SAS names: the lists must permit this user, too. */
function authoriseReader(
  http: HttpService,
  principal: Principal,
  { account, name }: { readonly account: string; readonly name: string },
  { linked: { permission } }: SourceContext,
  access: Access | undefined,
): Result<void> {
  if (!isRoleCaller(principal)) return ok(undefined);
  const path = access?.path?.();
  const byLists = (caller: AclCaller): Result<void> =>
    path === undefined
      ? fail("AuthorizationPermissionMismatch")
      : authoriseByAcl(caller, { permission, mayCreate: false }, path);
  const user = listedUserOf(principal);
  const byUser = user === undefined ? ok(undefined) : byLists(user);
  if (!byUser.ok) return byUser;
  if (currentRoles(http, account) === undefined) {
    const isListed = principal.kind === "bearer" && path !== undefined;
    return isListed ? byLists(listCallerOf(principal)) : ok(undefined);
  }
  if (namedRoleCheck(http, account, principal)(permission, name)) return ok(undefined);
  return byLists(listCallerOf(principal));
}

/** Finds the principal that reads the source: that of the source's own credentials or, without
 *  them, the caller of the copy if its account key or bearer token is valid for the account of the
 *  source, too. */
async function principalOf(
  http: HttpService,
  source: WireRequest,
  location: Location,
  { account, principal, linked }: SourceContext,
): Promise<Result<Principal>> {
  const signed = location.query.get("sig") !== undefined;
  if (signed || source.headers["authorization"] !== undefined)
    return authenticateSource(http, source, location);
  const holdsAll = principal.kind === "key" || principal.kind === "bearer";
  if (linked.below === "account") return ok(principal);
  return ok(holdsAll && account === location.account ? principal : anonymousPrincipal);
}

/** Authenticates a source by its own credentials: a SAS in its URL, or the authorization header for
 *  it. */
async function authenticateSource(
  http: HttpService,
  request: WireRequest,
  location: Location,
): Promise<Result<Principal>> {
  const address = http.service.identify(location.path, location.query);
  if (!address.ok) return address;
  const version = request.headers["x-ms-version"] ?? "";
  const addressed = { request, requestId: "", location, address: address.value, version };
  const authenticated = authenticate(http, await verifyToken(http, addressed));
  if (!authenticated.ok) return authenticated;
  const { principal } = authenticated.value;
  // A source of the file service is a file, for which a bearer token needs the intent header.
  const intended = http.service.name === "file" ? checkIntent(principal, request) : ok(undefined);
  return intended.ok ? ok(principal) : intended;
}

function authoriseRead(
  { service, accounts, clock }: HttpService,
  principal: Principal,
  access: Access | undefined,
  context: SourceContext,
): Result<void> {
  const { account, version, linked } = context;
  const settings = accounts.get(account);
  const publicAccessPermitted = settings?.publicAccess === true;
  const record = access && { ...access, publicAccessPermitted, wallNow: clock.wall() };
  const hierarchical = settings?.hierarchicalNamespace === true;
  const target = { service: service.name, version, hierarchical };
  const allowed = authoriseWithRecord(principal, linked.permission, target, record);
  return allowed.ok ? ok(undefined) : unverified(allowed, context);
}

function malformed(failure: Failure, { linked }: SourceContext): Failure {
  return linked.below === "account" ? fail("InvalidSourceUri") : failure;
}

/** The fault of a source that must not be read. A rename returns the source's own fault, as if the
 *  client had requested the source. */
function unverified(failure: Result<unknown>, { linked, version }: SourceContext): Result<never> {
  if (failure.ok) throw new Error("a fault was expected");
  return linked.below === "account" ? failure : unverifiedSource(failure, version);
}
