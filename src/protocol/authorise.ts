import {
  authenticationFailed,
  checkValidityPeriod,
  noCredentials,
} from "./authentication-faults.ts";
import {
  coversEntity,
  type AccountSasPrincipal,
  type DelegationSasPrincipal,
  type EntityKeys,
  type Principal,
  type ServiceSasPrincipal,
} from "./principal.ts";
import type { FaultCode } from "./faults.ts";
import { type ServiceName, serviceLetters } from "./names.ts";
import type { Permission, StoredPolicy } from "./permission.ts";
import { fail, ok, type Failure, type Result } from "./result.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Version } from "./versions.ts";
import {
  executeBit,
  mayAccess,
  readBit,
  writeBit,
  type AccessNeed,
  type AclCaller,
  type PathAccess,
} from "./posix-access.ts";

/** Decides whether a caller has the permission that an operation declares (`permission.ts`), by
 *  SAS, stored access policy, public access or access control list. Pure functions;
 *  `http/auth/authorise-call.ts` calls them before the body arrives and again inside the
 *  transaction. */

/** The target of a request, with the fields that its authorisation depends on. */
export interface AuthorisationTarget {
  readonly service: ServiceName;
  /** The x-ms-version; undefined if the request has none. */
  readonly version: string | undefined;
  /** Whether the account has a hierarchical namespace. */
  readonly hierarchical?: boolean | undefined;
  /** The table of an operation on entities, also of one inside a transaction. */
  readonly table?: string | undefined;
  readonly entity?: EntityKeys | undefined;
}

/** Access rules from the record of the container, share, queue or table that is accessed. */
export interface RecordAccess {
  readonly policies: readonly StoredPolicy[];
  readonly publicAccess?: "container" | "blob" | undefined;
  /** Whether the account permits containers with public access. */
  readonly publicAccessPermitted: boolean;
  readonly wallNow: Ticks;
}

const granted = ok(undefined);

/** Decides what does not depend on a record. Anonymous reads and signatures with a stored policy
 *  pass here if a record may still permit them: `authoriseWithRecord` decides those. */
export function authorise(
  principal: Principal,
  need: Permission,
  target: AuthorisationTarget,
): Result<void> {
  if (need.allowsAnonymous === true) return granted;
  if (principal.kind === "anonymous") {
    if (need.publicRead !== undefined && target.service === "blob") return granted;
    return rejectAnonymous(need, target);
  }
  if (need.bearerOnly === true && principal.kind !== "bearer") {
    return authenticationFailed("Only authentication scheme Bearer is supported");
  }
  switch (principal.kind) {
    case "key":
    // `http/auth/authorise-call.ts` checks the roles of the caller in addition.
    case "bearer":
      return granted;
    case "account-sas":
      return authoriseAccountSas(principal, need, target);
    case "service-sas":
    case "delegation-sas":
      return authoriseResourceSas(principal, need, target);
  }
}

/** Whether `authoriseWithRecord` must decide, because a record may permit or forbid the request. */
export function isDecidedByRecord(principal: Principal): boolean {
  return (
    principal.kind === "anonymous" ||
    (principal.kind === "service-sas" && principal.identifier !== undefined)
  );
}

/** The final decision, inside the transaction that read the record. Returns the principal,
 *  completed with the fields of its stored policy. `access` is undefined if the container, share,
 *  queue or table does not exist. */
export function authoriseWithRecord(
  principal: Principal,
  need: Permission,
  target: AuthorisationTarget,
  access: RecordAccess | undefined,
): Result<Principal> {
  if (need.allowsAnonymous === true) return ok(principal);
  if (principal.kind === "anonymous") {
    const open = authoriseAnonymous(need, target, access);
    return open.ok ? ok(principal) : open;
  }
  const resolved = isDecidedByRecord(principal)
    ? resolvePolicy(principal, access?.policies ?? [], access?.wallNow ?? 0n)
    : ok(principal);
  if (!resolved.ok) return resolved;
  const allowed = authorise(resolved.value, need, target);
  return allowed.ok ? resolved : allowed;
}

/** Whether the principal may replace an existing blob or file: a SAS with `c` but without `w` may
 *  only create. */
export function mayOverwrite(principal: Principal): boolean {
  return hasFurtherPermission(principal, "w");
}

/** Whether the principal may read or set tags in an operation on the blob itself: a SAS needs `t`,
 *  and public access does not include tags. */
export function mayUseTags(principal: Principal): boolean {
  return hasFurtherPermission(principal, "t");
}

/** Whether a SAS, with its stored access policy, has a permission besides that of the operation. */
export function sasPermits(
  principal: Principal,
  letter: string,
  { policies, wallNow }: Pick<RecordAccess, "policies" | "wallNow">,
): boolean {
  const resolved = resolvePolicy(principal, policies, wallNow);
  return resolved.ok && hasFurtherPermission(resolved.value, letter);
}

/** Whether the principal has a permission that its request needs beside that of the operation. */
function hasFurtherPermission(principal: Principal, letter: string): boolean {
  switch (principal.kind) {
    case "key":
    case "bearer":
      return true;
    case "anonymous":
      return false;
    case "account-sas":
    case "service-sas":
    case "delegation-sas":
      return principal.permissions?.includes(letter) ?? false;
  }
}

function authoriseAnonymous(
  need: Permission,
  target: AuthorisationTarget,
  access: RecordAccess | undefined,
): Result<void> {
  if (need.publicRead === undefined || access?.publicAccess === undefined) {
    return rejectAnonymous(need, target);
  }
  const open = need.publicRead === "blob" || access.publicAccess === "container";
  if (!open) return rejectAnonymous(need, target);
  return access.publicAccessPermitted ? granted : fail("PublicAccessNotPermitted");
}

function rejectAnonymous(need: Permission, target: AuthorisationTarget): Result<void> {
  if (need.notFoundIfAnonymous === true) return fail("ResourceNotFound");
  return noCredentials(target.service, target.version);
}

function authoriseAccountSas(
  principal: AccountSasPrincipal,
  need: Permission,
  target: AuthorisationTarget,
): Result<void> {
  if (!principal.services.includes(serviceLetters[target.service])) {
    return fail("AuthorizationServiceMismatch");
  }
  if (!holdsAny(principal.resourceTypes, need.resourceType)) {
    return fail("AuthorizationResourceTypeMismatch", resourceTypeDetail(need, target));
  }
  if (need.sas === "none") return fail("AuthorizationFailure");
  return holds(principal.permissions, need) ? granted : fail("AuthorizationPermissionMismatch");
}

/** The first x-ms-version in which the fault says which resource type the SAS lacks. */
const extendedDetailSince: Version = "2024-11-04";

function resourceTypeDetail({ resourceType }: Permission, { version }: AuthorisationTarget) {
  if (version === undefined || version < extendedDetailSince) return undefined;
  const types = resourceType
    .split("")
    .map((type) => `'${type}'`)
    .join(" or ");
  const missing = `SignedResourceTypes ${types} is required to perform this operation.`;
  return { elements: { ExtendedErrorDetail: missing } };
}

function authoriseResourceSas(
  principal: ServiceSasPrincipal | DelegationSasPrincipal,
  need: Permission,
  target: AuthorisationTarget,
): Result<void> {
  // Only accounts with a hierarchical namespace have access control lists, which a token for a user
  // depends on.
  const isMisplaced =
    principal.kind === "delegation-sas" &&
    principal.agent !== undefined &&
    target.hierarchical !== true;
  if (need.sas !== undefined || isMisplaced) return rejectToken(principal, "AuthorizationFailure");
  if (target.table !== undefined && !coversTable(principal, target.table)) {
    return rejectToken(principal, "AuthorizationFailure");
  }
  if (principal.permissions !== undefined && !holds(principal.permissions, need)) {
    return rejectToken(principal, "AuthorizationPermissionMismatch");
  }
  if (target.entity === undefined || coversEntity(principal, target.entity)) return granted;
  // Recorded from Azure: a read outside the range gets 404, a write 403.
  return fail(need.letters === "r" ? "ResourceNotFound" : "AuthorizationFailure");
}

/** The fault of a SAS that does not permit a request: tokens of versions before 2015-04-05 get 404
 *  instead of 403. */
export function rejectToken(
  principal: ServiceSasPrincipal | DelegationSasPrincipal,
  code: FaultCode,
): Result<void> {
  return fail(principal.version < "2015-04-05" ? "ResourceNotFound" : code);
}

function coversTable(
  principal: ServiceSasPrincipal | DelegationSasPrincipal,
  table: string,
): boolean {
  const { service, name } = principal.resource;
  return service === "table" && name.toLowerCase() === table.toLowerCase();
}

function holds(permissions: string, need: Permission): boolean {
  if (need.letters === undefined) return true;
  return need.needsEveryLetter === true
    ? holdsEvery(permissions, need.letters)
    : holdsAny(permissions, need.letters);
}

function holdsEvery(held: string, wanted: string): boolean {
  for (const letter of wanted) if (!held.includes(letter)) return false;
  return true;
}

function holdsAny(held: string, wanted: string): boolean {
  for (const letter of wanted) if (held.includes(letter)) return true;
  return false;
}

/** Completes a SAS with the fields of the stored access policy that it names. Runs inside the
 *  transaction that reads the policy, so that revoking a policy takes effect with its commit. */
function resolvePolicy(
  principal: Principal,
  policies: readonly StoredPolicy[],
  wallNow: Ticks,
): Result<Principal> {
  if (principal.kind !== "service-sas" || principal.identifier === undefined) return ok(principal);
  const policy = policies.find((candidate) => candidate.id === principal.identifier);
  if (policy === undefined) {
    return authenticationFailed("SAS identifier cannot be found for specified signed identifier");
  }
  return merge(principal, policy, wallNow);
}

/** Each field must come from exactly one of SAS and policy. Otherwise the owner could not restrict
 *  a SAS by changing the policy, or the client could not know what its SAS permits. */
function merge(
  principal: ServiceSasPrincipal,
  policy: StoredPolicy,
  wallNow: Ticks,
): Result<Principal> {
  // An empty element in a stored access policy counts as missing.
  const policyPermissions = policy.permission === "" ? undefined : policy.permission;
  if (principal.start !== undefined && policy.start !== undefined) return inBoth("st");
  if (principal.expiry !== undefined && policy.expiry !== undefined) return inBoth("se");
  if (principal.permissions !== undefined && policyPermissions !== undefined) return inBoth("sp");
  const permissions = principal.permissions ?? policyPermissions;
  if (permissions === undefined) return authenticationFailed("sp is mandatory. Cannot be empty");
  const start = principal.start ?? policy.start;
  const expiry = principal.expiry ?? policy.expiry;
  const window = checkValidityPeriod({ start, expiry }, wallNow);
  if (!window.ok) return window;
  return ok({ ...principal, permissions, start, expiry, identifier: undefined });
}

function inBoth(field: string): Failure {
  return authenticationFailed(`${field} is specified in both the signed identifier and the URI`);
}

/** The bits that creating, deleting or renaming a path requires of its parent directory. */
export const directoryChange: AccessNeed = {
  parent: writeBit | executeBit,
  removesFromParent: true,
};

/** What a check of access control lists depends on: the permission of the operation, and whether it
 *  creates paths. */
interface AclRequest {
  readonly permission: Permission;
  /** Whether the operation creates a path that does not exist. */
  readonly mayCreate: boolean;
}

/** The permission bits that an operation needs. They follow from its SAS letters unless the
 *  declaration has `posix`. An operation on an existing path needs none on a missing one: a caller
 *  that may search the directories above it gets 404. */
function accessNeed({ permission, mayCreate }: AclRequest, exists: boolean): AccessNeed {
  const { letters = "", posix } = permission;
  if (posix !== undefined) return posix;
  if (!exists) return mayCreate ? { parent: writeBit | executeBit } : {};
  if (letters.includes("w") || letters.includes("a")) return { target: writeBit };
  if (letters.includes("d")) return directoryChange;
  return letters.includes("r") ? { target: readBit } : {};
}

/** Whether the access control lists of a path and of the directories above it permit a request. */
export function authoriseByAcl(
  caller: AclCaller,
  request: AclRequest,
  path: PathAccess,
): Result<void> {
  const isAllowed = mayAccess(path, caller, accessNeed(request, path.target !== undefined));
  return isAllowed ? ok(undefined) : fail("AuthorizationPermissionMismatch");
}
