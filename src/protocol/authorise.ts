import { resolvePolicy } from "./access-policy.ts";
import { authenticationFailed, noCredentials } from "./authentication-faults.ts";
import { coversEntity, type EntityKeys } from "./entity-range.ts";
import type { FaultCode } from "./faults.ts";
import type { ServiceName } from "./service-name.ts";
import type { Permission, StoredPolicy } from "./permission.ts";
import type {
  AccountSasPrincipal,
  DelegationSasPrincipal,
  Principal,
  ServiceSasPrincipal,
} from "./principal.ts";
import { fail, ok, type Result } from "./result.ts";
import type { Ticks } from "../base/ticks.ts";

/** What a request accesses, as far as it matters to authorisation. */
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

const serviceLetters: Readonly<Record<ServiceName, string>> = {
  blob: "b",
  queue: "q",
  table: "t",
  file: "f",
};

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
  return mayBeyond(principal, "w");
}

/** Whether the principal may read or set tags in an operation on the blob itself: a SAS needs `t`,
 *  and public access does not include tags. */
export function mayUseTags(principal: Principal): boolean {
  return mayBeyond(principal, "t");
}

/** Whether the principal has a permission in addition to that of the operation. */
function mayBeyond(principal: Principal, letter: string): boolean {
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
    return fail("AuthorizationResourceTypeMismatch");
  }
  if (need.sas === "none") return fail("AuthorizationFailure");
  return holds(principal.permissions, need) ? granted : fail("AuthorizationPermissionMismatch");
}

function authoriseResourceSas(
  principal: ServiceSasPrincipal | DelegationSasPrincipal,
  need: Permission,
  target: AuthorisationTarget,
): Result<void> {
  // Tokens for a directory or for a user need a hierarchical namespace.
  const isOfPaths = principal.resource.kind === "directory" || hasAgent(principal);
  const isMisplaced = isOfPaths && target.hierarchical !== true;
  if (need.sas !== undefined || isMisplaced) return rejectToken(principal, "AuthorizationFailure");
  if (target.table !== undefined && !coversTable(principal, target.table)) {
    return rejectToken(principal, "AuthorizationFailure");
  }
  if (principal.permissions !== undefined && !holds(principal.permissions, need)) {
    return rejectToken(principal, "AuthorizationPermissionMismatch");
  }
  if (target.entity === undefined || coversEntity(principal, target.entity)) return granted;
  // Recorded: a read outside the range gets 404, a write 403.
  return fail(need.letters === "r" ? "ResourceNotFound" : "AuthorizationFailure");
}

function hasAgent(principal: ServiceSasPrincipal | DelegationSasPrincipal): boolean {
  return principal.kind === "delegation-sas" && principal.agent !== undefined;
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
