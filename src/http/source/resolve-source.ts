import { authoriseByAcl, authoriseWithRecord } from "../../protocol/authorise.ts";
import { authoriseCoverage, authoriseReach } from "../../protocol/authorise-named.ts";
import type { LinkedResource } from "../../protocol/named-resource.ts";
import type { Permission } from "../../protocol/permission.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { anonymousPrincipal, type Principal } from "../../protocol/principal.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { cannotVerifySource, unverifiedSource } from "../../protocol/source-conditions.ts";
import { isRoleCaller, listCallerOf, listedUserOf } from "../../protocol/roles/role.ts";
import type { Access, AccountPlace, Service } from "../../operation/service.ts";
import { withoutSignature } from "../../operation/source.ts";
import type { CopySource, OwnSource } from "../../operation/source.ts";
import type { Ticks } from "../../base/ticks.ts";
import { isAccount, locate, type LocatingService, type Location } from "../request/target.ts";
import type { WireRequest } from "../wire.ts";
import { clientSignal, requireClient } from "./client-signal.ts";
import { wireRequestOf } from "./source-readers.ts";
import { fetchedPropertiesOf, ask, type SourceRequest, type Sources } from "./source-reader.ts";
import { parseSourcePath, parseSourceUrl, sourceHeaders } from "./source-url.ts";

/** The parts of a service that find the source of a copy and check access to it. */
export interface NamingParts {
  readonly service: Service;
  readonly sources: Sources;
  readonly locating: LocatingService;
  readonly publicAccessPermitted: (account: string) => boolean;
  readonly isHierarchical: (account: string) => boolean;
  /** Authenticates the credentials in or beside the source's URL. */
  readonly authenticate: (source: WireRequest, location: Location) => Promise<Result<Principal>>;
  readonly hasScopeKeys: boolean;
  readonly wallNow: () => Ticks;
  readonly hasRoles: (account: string) => boolean;
  /** Whether roles permit reading a container or share of the account. */
  readonly rolesAllow: (account: string, principal: Principal) => RoleCheck;
}

type RoleCheck = (permission: Permission, name: string) => boolean;

/** The request that names the source. */
interface SourceContext {
  readonly account: string;
  readonly principal: Principal;
  readonly version: string;
  /** How the operation declares its source: the header with its URL, and the permission that is
   *  needed. */
  readonly linked: LinkedResource;
  /** The service URL that the client used. */
  readonly endpoint: string;
  readonly accountPlace: AccountPlace;
}

/** Resolves `x-ms-copy-source` to a record of this service, or to a source that must be fetched. */
export async function resolveSource(
  parts: NamingParts,
  request: WireRequest,
  context: SourceContext,
): Promise<Result<CopySource>> {
  const { below, parameter } = context.linked;
  if (below === "account") return sourceBelowAccount(parts, request, context);
  const parsed = parseSourceUrl(request, context.version, parameter);
  if (!parsed.ok) return parsed;
  const url = parsed.value;
  const { sources } = parts;
  const service = sources.serviceOf(url, request.headers["host"] ?? "");
  const outgoing = sourceRequestOf(request, context, url, service);
  const { signal, remoteAddress, secure } = outgoing;
  if (service === parts.service.name) return ownSource(parts, outgoing, context);
  const response = await ask(sources.read, outgoing);
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

function sourceRequestOf(
  request: WireRequest,
  { version }: SourceContext,
  url: URL,
  service: SourceRequest["service"],
) {
  const { remoteAddress, secure } = request;
  const host = request.headers["host"] ?? "";
  const headers = sourceHeaders(request, version);
  const signal = clientSignal(request);
  return { url, headers, host, remoteAddress, secure, service, signal, method: "HEAD" } as const;
}

/** Resolves a path below the account. If it has two meanings, the result has both; the transaction
 *  uses the one that exists. */
async function sourceBelowAccount(
  parts: NamingParts,
  request: WireRequest,
  context: SourceContext,
): Promise<Result<CopySource>> {
  const urls = parseSourcePath(request.headers[context.linked.parameter] ?? "", context);
  if (!urls.ok) return urls;
  const resolve = (url: URL) =>
    ownSource(parts, sourceRequestOf(request, context, url, parts.service.name), context);
  const [first, second] = await Promise.all(urls.value.map(resolve));
  if (first === undefined) return fail("InvalidSourceUri");
  if (second?.ok !== true) return first;
  return first.ok ? ok({ ...first.value, alternative: second.value }) : second;
}

async function ownSource(
  parts: NamingParts,
  outgoing: SourceRequest,
  context: SourceContext,
): Promise<Result<OwnSource>> {
  const source = wireRequestOf({ ...outgoing, method: "GET" });
  const location = locate(source, parts.locating);
  if (!location.ok) return malformed(location, context);
  const { account, path, query } = location.value;
  // The credentials of the request do not cover other accounts, to which `..` could lead.
  const isOutside = context.linked.below === "account" && account !== context.account;
  if (isOutside) return fail("InvalidSourceUri");
  if (!isAccount(parts.locating, account))
    return unverifiedSource(fail("ResourceNotFound"), context.version);
  const address = parts.service.identify(path, query);
  if (!address.ok) return malformed(address, context);
  const principal = await principalOf(parts, source, location.value, context);
  if (!principal.ok) return unverified(principal, context);
  return ok({
    kind: "same-service",
    url: withoutSignature(outgoing.url.href),
    account,
    address: address.value,
    isSameAccount: account === context.account,
    hasScopeKeys: parts.hasScopeKeys,
    authorise: (access) => {
      const { name = "", path: below } = parts.service.signedName(address.value);
      const isSigned = context.linked.below !== "account";
      const covered = isSigned || authoriseCoverage(principal.value, { name, path: below });
      if (covered !== true && !covered.ok) return covered;
      const reach = { input: {}, isFile: access?.isFile };
      const reached = authoriseReach(principal.value, context.linked.permission, reach);
      if (!reached.ok) return unverified(reached, context);
      const listed = authoriseReader(parts, principal.value, { account, name }, context, access);
      if (!listed.ok) return unverified(listed, context);
      return authoriseRead(parts, principal.value, access, { ...context, account });
    },
  });
}

/** Checks whether the caller may read the source. If a role permits it, access control lists do not
 *  apply, except to the user of a SAS. */
function authoriseReader(
  { rolesAllow, hasRoles }: NamingParts,
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
  if (!hasRoles(account)) {
    const isListed = principal.kind === "bearer" && path !== undefined;
    return isListed ? byLists(listCallerOf(principal)) : ok(undefined);
  }
  if (rolesAllow(account, principal)(permission, name)) return ok(undefined);
  return byLists(listCallerOf(principal));
}

/** The principal that reads the source. Inside one account, the key that signs the copy also
 *  permits reading the source. */
async function principalOf(
  { authenticate }: NamingParts,
  source: WireRequest,
  location: Location,
  { account, principal, linked }: SourceContext,
): Promise<Result<Principal>> {
  const signed = location.query.get("sig") !== undefined;
  if (signed || source.headers["authorization"] !== undefined)
    return authenticate(source, location);
  const holdsAll = principal.kind === "key" || principal.kind === "bearer";
  if (linked.below === "account") return ok(principal);
  return ok(holdsAll && account === location.account ? principal : anonymousPrincipal);
}

function authoriseRead(
  { service, publicAccessPermitted, isHierarchical, wallNow }: NamingParts,
  principal: Principal,
  access: Access | undefined,
  context: SourceContext,
): Result<void> {
  const { account, version, linked } = context;
  const permitted = publicAccessPermitted(account);
  const record = access && { ...access, publicAccessPermitted: permitted, wallNow: wallNow() };
  const target = { service: service.name, version, hierarchical: isHierarchical(account) };
  const allowed = authoriseWithRecord(principal, linked.permission, target, record);
  return allowed.ok ? ok(undefined) : unverified(allowed, context);
}

function malformed(failure: Failure, { linked }: SourceContext): Failure {
  return linked.below === "account" ? fail("InvalidSourceUri") : failure;
}

/** The fault of a source that cannot be read. A rename returns the source's own fault, as if the
 *  client had requested the source. */
function unverified(failure: Result<unknown>, { linked, version }: SourceContext): Result<never> {
  if (failure.ok) throw new Error("a fault was expected");
  return linked.below === "account" ? failure : unverifiedSource(failure, version);
}
