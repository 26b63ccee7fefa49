import type { AssignmentInfo, Identity, PrincipalInfo, RoleInfo } from "../api-types.ts";
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
import type { Route } from "../routes.ts";
import type { IdentityContext } from "./token-issuer.ts";

/** The route that lists principals, roles and role assignments, without secrets, for the
 *  explorer and for `etagere principal list`. */
export function identityViewRoute({ identity }: Pick<IdentityContext, "identity">): Route {
  return {
    method: "GET",
    path: "/admin/v1/identity",
    access: "principal",
    answer: (request) => json(viewOf(identity(), request)),
  };
}

function viewOf(identity: IdentitySettings, request: CheckedRequest): Identity {
  const { principals, roles, issuers, hasRoles, ignored = [] } = identity;
  const assignments = identity.assignments.filter((each) => isShown(each, request));
  const assigned = new Set(assignments.map(({ objectId }) => objectId.toLowerCase()));
  const isServer = request.grant.kind === "server";
  const isListed = (principal: PrincipalSettings): boolean =>
    isServer || idsOf(principal).some((id) => assigned.has(id));
  const used = new Set(assignments.map(({ role }) => role));
  const isKnown = (role: Role): boolean => isServer || isBuiltIn(role) || used.has(role);
  return {
    rolesDecide: hasRoles,
    principals: principals.filter(isListed).map(renderPrincipal),
    roles: roles.filter(isKnown).map(renderRole),
    assignments: assignments.map((each) => renderAssignment(each, principals)),
    ...(isServer ? { issuers: issuers.map(renderIssuer), ignored } : {}),
  };
}

/** An account key sees the assignments that apply to its account; a principal sees its own. */
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

export function renderPrincipal(principal: PrincipalSettings): PrincipalInfo {
  const { name, objectId, clientId, secret, groups, isStored } = principal;
  const other = principal === developerPrincipal ? "built-in" : "configured";
  const source = isStored === true ? "stored" : other;
  return { name, objectId, clientId, groups, hasSecret: secret !== undefined, source };
}

function isBuiltIn({ name }: Role): boolean {
  return builtInRolesByName.has(name.toLowerCase());
}

function renderRole(role: Role): RoleInfo {
  return { ...role.definition, isBuiltIn: isBuiltIn(role) };
}

function renderAssignment(
  { id, objectId, role, account, scope }: RoleAssignment,
  principals: readonly PrincipalSettings[],
): AssignmentInfo {
  const same = (each: PrincipalSettings): boolean =>
    each.objectId.toLowerCase() === objectId.toLowerCase();
  const principal = principals.find(same)?.name;
  return { id, objectId, principal, role: role.name, account, scope };
}

function renderIssuer({ issuer, audiences, accounts, claims }: IssuerSettings) {
  return { issuer, audiences, accounts, claims };
}
