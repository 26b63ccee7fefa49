import type { Principal } from "../principal.ts";
import type { AccessRules, RoleTarget } from "./access-rules.ts";
import type { ActionNeed } from "./actions.ts";

/** A caller whose roles limit what it may do: with a bearer token, or with a signature that its
 *  user delegation key made. */
export type RoleCaller = Extract<Principal, { readonly objectId: string }>;

export function isRoleCaller(principal: Principal): principal is RoleCaller {
  return principal.kind === "bearer" || principal.kind === "delegation-sas";
}

/** The object ids whose role assignments a caller has. A signature names no groups. */
export function idsOf(caller: RoleCaller): readonly string[] {
  const { objectId } = caller;
  const groups = caller.kind === "bearer" ? caller.groups : undefined;
  return groups === undefined || groups.length === 0 ? [objectId] : [objectId, ...groups];
}

/** Whether roles permit the request. Without rules, and for callers that roles do not apply to,
 *  they do: other checks decide. */
export function rolesAllow(
  rules: AccessRules | undefined,
  principal: Principal,
  need: ActionNeed,
  target: RoleTarget,
): boolean {
  if (rules === undefined || !isRoleCaller(principal)) return true;
  return rules.allows(idsOf(principal), need, target);
}
