import { authenticationFailed, checkValidityPeriod } from "./authentication-faults.ts";
import type { StoredPolicy } from "./permission.ts";
import type { Principal, ServiceSasPrincipal } from "./principal.ts";
import { ok, type Failure, type Result } from "./result.ts";
import type { Ticks } from "../base/ticks.ts";

/** Completes a SAS with the fields of the stored access policy that it names. Runs inside the
 *  transaction that reads the policy, so that revoking a policy takes effect with its commit. */
export function resolvePolicy(
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
  // An empty element in an ACL counts as missing.
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
