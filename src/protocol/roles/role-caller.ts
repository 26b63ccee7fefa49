import type { AclCaller } from "../posix-access.ts";
import type { Principal } from "../principal.ts";
import type { AccessRules, RoleTarget } from "./access-rules.ts";
import type { ActionNeed } from "./actions.ts";

/** A caller whose roles limit what it may do: it sent a bearer token, or a SAS signed with a user
 *  delegation key. */
export type RoleCaller = Extract<Principal, { readonly objectId: string }>;

export function isRoleCaller(principal: Principal): principal is RoleCaller {
  return principal.kind === "bearer" || principal.kind === "delegation-sas";
}

/** The object ids whose role assignments apply to the caller: its own and those of its groups. A
 *  SAS contains no groups. */
export function assigneeIdsOf(caller: RoleCaller): readonly string[] {
  const { objectId } = caller;
  const groups = caller.kind === "bearer" ? caller.groups : undefined;
  return groups === undefined || groups.length === 0 ? [objectId] : [objectId, ...groups];
}

/** The caller whose access control lists may permit what its roles do not. */
export function listCallerOf(caller: RoleCaller): AclCaller {
  const groups = caller.kind === "bearer" ? caller.groups : undefined;
  return { objectId: caller.objectId, groups: groups ?? [] };
}

/** The user whom access control lists limit whatever roles the signer of its SAS has; undefined if
 *  the caller is no such user. */
export function listedUserOf(caller: RoleCaller): AclCaller | undefined {
  if (caller.kind !== "delegation-sas" || caller.agent === undefined) return undefined;
  const { objectId, isAuthorised } = caller.agent;
  return isAuthorised ? undefined : { objectId, groups: [] };
}

/** Whether roles permit the request. True without rules, and for callers that have no roles
 *  (account key, other SAS, anonymous): for these, other checks decide. */
export function rolesAllow(
  rules: AccessRules | undefined,
  principal: Principal,
  need: ActionNeed,
  target: RoleTarget,
): boolean {
  if (rules === undefined || !isRoleCaller(principal)) return true;
  return rules.allows(assigneeIdsOf(principal), need, target);
}
