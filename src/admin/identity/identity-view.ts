import {
  developerPrincipal,
  type IdentitySettings,
  type IssuerSettings,
  type PrincipalSettings,
  type RoleAssignment,
} from "../../account/identity.ts";
import { builtInRolesByName } from "../../protocol/roles/built-in-roles.ts";
import type { Role } from "../../protocol/roles/role.ts";
import { json } from "../admin-response.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute, type Route } from "../routes.ts";
import type { IdentityContext } from "./token-issuer.ts";

/** The route that lists principals, roles and role assignments, without secrets, for the
 *  explorer and for `etagere principal list`. */
export function identityViewRoute({ identity }: Pick<IdentityContext, "identity">): Route {
  return declareRoute("GET /admin/v1/identity", "principal", (request) =>
    json(viewOf(identity(), request)),
  );
}

/** The view: what the caller may see of principals, roles and role assignments. */
export type Identity = ReturnType<typeof viewOf>;

function viewOf(identity: IdentitySettings, request: CheckedRequest) {
  const { principals, roles, issuers, hasRoles, ignored = [] } = identity;
  const assignments = identity.assignments.filter((each) => isShown(each, request));
  const assigned = new Set(assignments.map(({ objectId }) => objectId.toLowerCase()));
  const isServer = request.grant.kind === "server";
  const isListed = (principal: PrincipalSettings): boolean =>
    isServer || idsOf(principal).some((id) => assigned.has(id));
  const used = new Set(assignments.map(({ role }) => role));
  const isKnown = (role: Role): boolean => isServer || isBuiltIn(role) || used.has(role);
  return {
    // Whether roles decide about bearer tokens. Otherwise each accepted token permits all.
    rolesDecide: hasRoles,
    principals: principals.filter(isListed).map(renderPrincipal),
    roles: roles.filter(isKnown).map(renderRole),
    assignments: assignments.map((each) => renderAssignment(each, principals)),
    // `ignored`: stored principals and assignments that the configuration contradicts.
    ...(isServer ? { issuers: issuers.map(renderIssuer), ignored } : {}),
  };
}

/** Whether the caller sees an assignment: with an account key those that apply to its account, as a
 *  principal its own. */
function isShown({ objectId, account }: RoleAssignment, { grant }: CheckedRequest): boolean {
  switch (grant.kind) {
    case "server":
      return true;
    case "account":
      return account === undefined || account === grant.account;
    case "principal":
      return grant.assigneeIds.some((id) => id.toLowerCase() === objectId.toLowerCase());
  }
}

function idsOf({ objectId, groups }: PrincipalSettings): readonly string[] {
  return [objectId, ...groups].map((id) => id.toLowerCase());
}

export type PrincipalInfo = ReturnType<typeof renderPrincipal>;

/** `stored` principals can be changed. `configured` ones are in the configuration; the developer
 *  identity is built in. */
export function renderPrincipal(principal: PrincipalSettings) {
  const { name, objectId, clientId, secret, groups, isStored } = principal;
  const other = principal === developerPrincipal ? "built-in" : "configured";
  const source = isStored === true ? ("stored" as const) : other;
  return { name, objectId, clientId, groups, hasSecret: secret !== undefined, source };
}

function isBuiltIn({ name }: Role): boolean {
  return builtInRolesByName.has(name.toLowerCase());
}

export type RoleInfo = ReturnType<typeof renderRole>;

function renderRole(role: Role) {
  return { ...role.definition, isBuiltIn: isBuiltIn(role) };
}

export type AssignmentInfo = ReturnType<typeof renderAssignment>;

/** `id` is undefined for an assignment of the configuration, which cannot be removed by its id;
 *  `principal` is the name of the local principal with the object id, if there is one. */
function renderAssignment(
  { id, objectId, role, account, scope }: RoleAssignment,
  principals: readonly PrincipalSettings[],
) {
  const same = (each: PrincipalSettings): boolean =>
    each.objectId.toLowerCase() === objectId.toLowerCase();
  const principal = principals.find(same)?.name;
  return { id, objectId, principal, role: role.name, account, scope };
}

function renderIssuer({ issuer, audiences, accounts, claims }: IssuerSettings) {
  return { issuer, audiences, accounts, claims };
}
