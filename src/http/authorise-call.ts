import {
  authorise,
  authoriseWithRecord,
  isDecidedByRecord,
  mayOverwrite,
  mayUseTags,
} from "../protocol/authorise.ts";
import type { AuthorisationTarget } from "../protocol/authorise.ts";
import { authoriseCoverage, authoriseNamed, authoriseReach } from "../protocol/authorise-named.ts";
import type { Address } from "../operation/operation.ts";
import type { AccountSettings } from "../account/settings.ts";
import type { Principal } from "../protocol/principal.ts";
import { fail, ok } from "../protocol/result.ts";
import type { Result } from "../protocol/result.ts";
import type { Call } from "../operation/execute.ts";
import { isRoleCaller } from "../protocol/roles/role-caller.ts";
import { authoriseCaller, checkRoles, namedRoleCheck, tagUseOf } from "./authorise-roles.ts";
import type { HttpService } from "./http-service.ts";
import type { SelectedRequest } from "./request-context.ts";

const granted = ok(undefined);
/** The check for requests that are signed with an account key, which permits everything. */
const grantAll: Call["authorise"] = () => granted;

/** Checks the permission of a request as far as it does not depend on a record. */
export function checkPermission(http: HttpService, selected: SelectedRequest): Result<void> {
  const { location, principal, operation, settings } = selected;
  if (location.secondary && operation.effect === "writes") {
    return fail("InsufficientAccountPermissions", { message: "Write operations are not allowed." });
  }
  // An account key permits every operation but those of users.
  const isUnlimited = principal.kind === "key" && operation.permission.bearerOnly !== true;
  const permitted = isUnlimited ? granted : checkCaller(http, selected);
  if (!permitted.ok) return permitted;
  if (operation.namespace === undefined) return granted;
  return checkNamespace(operation.namespace, settings.hierarchicalNamespace);
}

function checkCaller(http: HttpService, selected: SelectedRequest): Result<void> {
  const { address, version, principal, operation, settings } = selected;
  const target = authorisationTarget(http, address, { version, settings });
  const allowed = authorise(principal, operation.permission, target);
  return allowed.ok ? checkRoles(http, selected) : allowed;
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
    // `checkPermission` has decided before what does not depend on a record.
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
    const rolesAllow = namedRoleCheck(http, location.account, principal);
    const naming = { principal, address, input, target, access: recordAccess, rolesAllow };
    return authoriseNamed(namedResources, naming);
  };
}

/** Checks that a SAS is valid for the target if a parameter places it elsewhere than the URL, which
 *  was compared with the SAS before. A body that completes the address adds the keys of an entity,
 *  which `authoriseWithRecord` checks. */
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

/** Whether authorisation needs a record or the body: a table SAS may be limited to a range of
 *  entities, whose keys may be in the body. */
function dependsOnRecord({ service }: HttpService, principal: Principal): boolean {
  const mayBeRanged = service.name === "table" && principal.kind === "service-sas";
  return mayBeRanged || isDecidedByRecord(principal);
}
