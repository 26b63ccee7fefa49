import { memoByObject } from "../../process/memo.ts";
import {
  authorise,
  authoriseByAcl,
  authoriseWithRecord,
  isDecidedByRecord,
  mayOverwrite,
  mayUseTags,
  sasPermits,
  type AuthorisationTarget,
} from "../../protocol/authorise.ts";
import {
  authoriseCoverage,
  authoriseNamed,
  authoriseReach,
} from "../../protocol/named-resource.ts";
import type { Address, Operation } from "../../operation/operation.ts";
import type { AccountSettings } from "../../account/settings.ts";
import type { Principal } from "../../protocol/principal.ts";
import { missingHeader } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Call } from "../../operation/execute.ts";
import {
  assigneeIdsOf,
  isRoleCaller,
  listCallerOf,
  listedUserOf,
  rolesAllow,
  type ActionNeed,
  type RoleCaller,
  type AccessRules,
  type RoleTarget,
} from "../../protocol/roles/role.ts";
import type { HttpService } from "../http-service.ts";
import type { RequestContext, SelectedRequest } from "../request/request-context.ts";
import type { WireRequest } from "../wire.ts";
import type { Permission } from "../../protocol/permission.ts";
import type { AclCaller, PathAccess } from "../../protocol/posix-access.ts";
import { actionNeedOf, overwriteNeed, tagNeed } from "../../protocol/roles/action-need.ts";

/** Checks whether the caller of a request has the permission that the operation declares: SAS
 *  permissions, roles, access control lists. `http/pipeline.ts` checks what is known before the
 *  body arrives; the rest is a function that the transaction calls with the records it has read
 *  (`authoriserOf`). */

const granted = ok(undefined);
/** The check for requests that are signed with an account key, which permits everything. */
const grantAll: Call["authorise"] = () => granted;

/** Checks the permission of a request as far as it does not depend on a record. */
export function checkPermission(http: HttpService, selected: SelectedRequest): Result<void> {
  const { location, principal, operation, settings } = selected;
  if (location.secondary && operation.effect === "writes") {
    return fail("InsufficientAccountPermissions", { message: "Write operations are not allowed." });
  }
  // An account key permits every operation, except those whose caller must be a user
  // (`bearerOnly`).
  const isUnlimited = principal.kind === "key" && operation.permission.bearerOnly !== true;
  const permitted = isUnlimited ? granted : checkCaller(http, selected);
  if (!permitted.ok) return permitted;
  if (operation.namespace === undefined) return granted;
  return checkNamespace(operation.namespace, settings.hierarchicalNamespace);
}

function checkCaller(http: HttpService, selected: SelectedRequest): Result<void> {
  const { request, address, version, principal, operation, settings } = selected;
  const intended =
    operation.permission.needsIntent === true ? checkIntent(principal, request) : granted;
  if (!intended.ok) return intended;
  const target = authorisationTarget(http, address, { version, settings });
  const allowed = authorise(principal, operation.permission, target);
  return allowed.ok ? checkRoles(http, selected) : allowed;
}

const intentHeader = "x-ms-file-request-intent";

/** Rejects a bearer token without the header `x-ms-file-request-intent`. Only operations on files,
 *  directories and their permissions need it; official libraries send it for no other. */
export function checkIntent(principal: Principal, { headers }: WireRequest): Result<void> {
  const isMissing = principal.kind === "bearer" && headers[intentHeader] !== "backup";
  return isMissing ? missingHeader(intentHeader) : granted;
}

function checkNamespace(need: "hierarchical" | "flat", isHierarchical: boolean): Result<void> {
  if ((need === "hierarchical") === isHierarchical) return granted;
  return fail(
    isHierarchical
      ? "FeatureNotYetSupportedForHierarchicalNamespaceAccounts"
      : "HierarchicalNamespaceNotEnabled",
  );
}

/** Returns the check that runs inside the transaction: with the access policies of the target, and
 *  for the other resources that the request names. */
export function authoriserOf(
  http: HttpService,
  selected: SelectedRequest,
  input: object,
): Call["authorise"] {
  if (selected.principal.kind === "key") return grantAll;
  return recordAuthoriser(http, selected, input);
}

function recordAuthoriser(
  http: HttpService,
  selected: SelectedRequest,
  input: object,
): Call["authorise"] {
  const { request, principal, settings, operation, version, location } = selected;
  return (access, exists, address) => {
    const { permission: need, namedResources } = operation;
    if (isRoleCaller(principal)) {
      const target = { exists, address, input, path: access?.path };
      const permitted = authoriseCaller(http, selected, principal, target);
      if (!permitted.ok) return permitted;
    }
    const covered = checkCoverage(http, selected, address);
    if (!covered.ok) return covered;
    const reached = authoriseReach(principal, need, { input, isFile: access?.isFile });
    if (!reached.ok) return reached;
    const { sets, isConditional } = tagUseOf(operation, request);
    const tagged = sets || isConditional;
    // If nothing in the request depends on a record, `checkPermission` has decided already.
    const isDecided = need.overwrite !== true && !tagged && namedResources === undefined;
    if (isDecided && !dependsOnRecord(http, principal)) return granted;
    const target = authorisationTarget(http, address, { version, settings });
    const recordAccess = access && {
      publicAccess: access.publicAccess,
      policies: access.policies,
      publicAccessPermitted: settings.publicAccess,
      wallNow: http.clock.wall(),
    };
    const resolved = authoriseWithRecord(principal, need, target, recordAccess);
    if (!resolved.ok) return resolved;
    if (tagged && !mayUseTags(resolved.value)) return fail("AuthorizationPermissionMismatch");
    const overwrites = exists && need.overwrite === true;
    if (overwrites && !mayOverwrite(resolved.value)) return fail("UnauthorizedBlobOverwrite");
    if (namedResources === undefined) return granted;
    const byRoles = namedRoleCheck(http, location.account, principal);
    const naming = { principal, address, input, target, access: recordAccess, rolesAllow: byRoles };
    return authoriseNamed(namedResources, naming);
  };
}

/** Returns a function that checks, at the time of the decision, whether the SAS has a permission
 *  beside those of the operation: Create Path sets owners only with `o`, for example. Undefined
 *  without a SAS. */
export function sasPermitsOf(
  { clock }: HttpService,
  { principal }: SelectedRequest,
): Call["permits"] {
  const { kind } = principal;
  if (kind === "key" || kind === "bearer" || kind === "anonymous") return undefined;
  return (letter, access) =>
    sasPermits(principal, letter, { policies: access?.policies ?? [], wallNow: clock.wall() });
}

/** Checks that a SAS is valid for the target if a parameter names another target than the URL,
 *  which was compared with the SAS before. A body that completes the address adds the keys of an
 *  entity, which `authoriseWithRecord` checks. */
function checkCoverage(
  { service }: HttpService,
  { principal, operation, address: requested }: SelectedRequest,
  address: Address,
): Result<void> {
  if (address === requested || operation.completeAddress !== undefined) return granted;
  const { name = "", path } = service.signedName(address);
  return authoriseCoverage(principal, { name, path });
}

function authorisationTarget(
  { service }: HttpService,
  address: Address,
  { version, settings }: { readonly version: string; readonly settings: AccountSettings },
): AuthorisationTarget {
  const hierarchical = settings.hierarchicalNamespace;
  if (service.name !== "table") return { service: service.name, version, hierarchical };
  const { name: table, entity } = service.signedName(address);
  return { service: service.name, version, table, entity };
}

/** Whether authorisation must wait for a record or the body: for the access policy of an anonymous
 *  request or of a SAS that names one, and for a table SAS, which may be limited to a range of
 *  entities whose keys may be in the body. */
function dependsOnRecord({ service }: HttpService, principal: Principal): boolean {
  const mayBeRanged = service.name === "table" && principal.kind === "service-sas";
  return mayBeRanged || isDecidedByRecord(principal);
}

const denied = fail("AuthorizationPermissionMismatch");

/** Which actions (Azure's names for what a role grants) the operations of a service need. Derived
 *  once per operation, because deriving takes longer than the check. */
const needsIn = memoByObject(({ name }: HttpService["service"]) =>
  memoByObject((operation: Operation) => actionNeedOf(name, operation)),
);

function needOf({ service }: HttpService, operation: Operation): ActionNeed {
  return needsIn(service)(operation);
}

/** The container, queue, table or share of a request, to which role assignments may be limited. */
function roleTargetOf({ service }: HttpService, address: Address): RoleTarget {
  return { service: service.name, name: service.signedName(address).name };
}

/** Checks the roles before the request is parsed, if no record is needed to decide. */
function checkRoles(
  http: HttpService,
  { address, principal, operation, settings }: SelectedRequest,
): Result<void> {
  const { roles, hierarchicalNamespace } = settings;
  if (roles === undefined || !isRoleCaller(principal)) return granted;
  // `authoriseCaller` decides later: access control lists of paths may permit the request, or its
  // body may complete the address.
  const isOpen = hierarchicalNamespace && http.service.name === "blob";
  if (isOpen || operation.completeAddress !== undefined) return granted;
  const target = roleTargetOf(http, address);
  return rolesAllow(roles, principal, needOf(http, operation), target) ? granted : denied;
}

/** What the check of roles and access control lists depends on besides the request: what the
 *  transaction has read, and the parsed parameters. */
interface RoleCheck {
  /** Whether the target exists. */
  readonly exists: boolean;
  readonly address: Address;
  readonly input: object;
  /** Returns the access control lists that apply to the path; undefined if the account has none. */
  readonly path: (() => PathAccess) | undefined;
}

/** Decides inside the transaction, with the current roles: a role assignment that was removed while
 *  the body arrived does not count. If a role permits the request, access control lists are not
 *  evaluated; otherwise the lists decide alone, as in the service. If a SAS names a user, the lists
 *  must permit the request to this user in any case. */
function authoriseCaller(
  http: HttpService,
  selected: SelectedRequest,
  principal: RoleCaller,
  check: RoleCheck,
): Result<void> {
  const user = listedUserOf(principal);
  const byUser = user === undefined ? granted : authoriseByLists(selected, user, check);
  return byUser.ok ? authoriseByRoles(http, selected, principal, check) : byUser;
}

function authoriseByRoles(
  http: HttpService,
  selected: SelectedRequest,
  principal: RoleCaller,
  check: RoleCheck,
): Result<void> {
  const { request, operation, location } = selected;
  const { permission } = operation;
  const { exists, address, input, path } = check;
  const roles = currentRoles(http, location.account);
  if (roles === undefined) {
    // If no roles are assigned, access control lists limit no signer of a SAS.
    const isListed = principal.kind === "bearer" && path !== undefined;
    return isListed ? authoriseByLists(selected, listCallerOf(principal), check) : granted;
  }
  const target = roleTargetOf(http, address);
  const allows = (need: ActionNeed): boolean => rolesAllow(roles, principal, need, target);
  const overwrites = exists && permission.overwrite === true && http.service.name === "blob";
  const isPermitted =
    allowsCall(http, operation, input, allows) && (!overwrites || allows(overwriteNeed));
  if (!isPermitted) {
    // If there is no path, the operation itself later applies the lists of the user that the SAS
    // names. The lists do not limit the signer of the SAS, who therefore needs a role.
    if (path === undefined && listedUserOf(principal) !== undefined) return denied;
    const byLists = authoriseByLists(selected, listCallerOf(principal), check);
    if (!byLists.ok) return byLists;
  }
  return tagNeedsOf(tagUseOf(operation, request)).every(allows) ? granted : denied;
}

/** Checks the access control lists that apply to the path. Without a path they permit nothing,
 *  unless the decision of the operation applies them itself. */
function authoriseByLists(
  { operation, settings }: SelectedRequest,
  caller: AclCaller,
  { path }: RoleCheck,
): Result<void> {
  const { permission } = operation;
  const isDeferred = permission.posix !== undefined && settings.hierarchicalNamespace;
  if (path === undefined) return isDeferred ? granted : denied;
  return authoriseByAcl(caller, { permission, mayCreate: mayCreate(operation) }, path());
}

function mayCreate({ target, effect, isDeletion }: Operation): boolean {
  return target !== "must-exist" && effect === "writes" && isDeletion !== true;
}

/** Whether roles permit an operation, also with what its parameters require in addition. */
function allowsCall(
  http: HttpService,
  operation: Operation,
  input: object,
  allows: (need: ActionNeed) => boolean,
): boolean {
  if (!allows(needOf(http, operation))) return false;
  const further = operation.permission.furtherActions?.(input);
  return further === undefined || allows(further);
}

/** Returns a function that finds, at the time of the decision, the caller whom access control lists
 *  limit, or undefined if they limit none. Undefined if no list can apply to the request. */
export function aclCallerOf(
  http: HttpService,
  { principal, settings, location, address, operation }: SelectedRequest,
  input: object,
): (() => AclCaller | undefined) | undefined {
  if (!settings.hierarchicalNamespace || !isRoleCaller(principal)) return undefined;
  const user = listedUserOf(principal);
  if (user !== undefined) return () => user;
  const caller = listCallerOf(principal);
  return () => {
    const roles = currentRoles(http, location.account);
    // If no roles are assigned, access control lists do not limit a SAS.
    if (roles === undefined) return principal.kind === "bearer" ? caller : undefined;
    const target = roleTargetOf(http, address);
    const allows = (need: ActionNeed): boolean => rolesAllow(roles, principal, need, target);
    const isPermitted = allowsCall(http, operation, input, allows);
    return isPermitted ? undefined : caller;
  };
}

/** The actions for tags that a role must grant beside those of the operation, if the request sets
 *  tags or has a condition on them. */
function tagNeedsOf({ sets, isConditional }: TagUse): readonly ActionNeed[] {
  return [...(sets ? [tagNeed(true)] : []), ...(isConditional ? [tagNeed(false)] : [])];
}

/** The present role assignments of an account; undefined if roles are not used. */
export function currentRoles({ accounts }: HttpService, account: string): AccessRules | undefined {
  const settings: AccountSettings | undefined = accounts.get(account);
  return settings?.roles;
}

/** Returns a function that checks whether roles permit what an operation needs of a resource beside
 *  its target, as of a copy source. */
export function namedRoleCheck(
  { service, accounts }: Pick<HttpService, "service" | "accounts">,
  account: string,
  principal: Principal,
): (permission: Permission, name: string) => boolean {
  return (permission, name) => {
    const roles = accounts.get(account)?.roles;
    if (roles === undefined || !isRoleCaller(principal)) return true;
    const need = actionNeedOf(service.name, { permission });
    return rolesAllow(roles, principal, need, { service: service.name, name });
  };
}

/** The actions that the roles of a rejected caller lack, so that the request feed can name them. A
 *  need is met by any of several sets of actions; of the first unmet need, the result has the
 *  missing actions of each set. Undefined if roles do not limit the caller or lack nothing. */
export function missingActions(
  http: HttpService,
  { principal, operation, address, location, request }: RequestContext,
): ActionNeed | undefined {
  if (principal === undefined || !isRoleCaller(principal)) return undefined;
  if (operation === undefined || address === undefined || location === undefined) return undefined;
  const roles = currentRoles(http, location.account);
  if (roles === undefined) return undefined;
  const overwrite = operation.permission.overwrite === true && http.service.name === "blob";
  const all = [
    needOf(http, operation),
    ...(overwrite ? [overwriteNeed] : []),
    ...tagNeedsOf(tagUseOf(operation, request)),
  ];
  const target = roleTargetOf(http, address);
  const ids = assigneeIdsOf(principal);
  const unmet = all.find((need) => !roles.allows(ids, need, target));
  return unmet?.map((actions) =>
    actions.filter((action) => !roles.allows(ids, [[action]], target)),
  );
}

/** How a request uses tags, which requires a permission beside that of its operation. */
interface TagUse {
  readonly sets: boolean;
  readonly isConditional: boolean;
}

type TagDeclaration = Pick<Operation, "params" | "conditions">;

/** How a request uses tags. Ignores headers that the operation does not declare. */
function tagUseOf(operation: TagDeclaration, { headers }: Pick<WireRequest, "headers">) {
  return {
    sets: headers["x-ms-tags"] !== undefined && setsTags(operation),
    isConditional:
      headers["x-ms-if-tags"] !== undefined &&
      operation.conditions !== "none" &&
      operation.conditions !== "match",
  } satisfies TagUse;
}

function setsTags({ params }: TagDeclaration): boolean {
  return Object.values(params).some(({ setsTags: declared }) => declared === true);
}
