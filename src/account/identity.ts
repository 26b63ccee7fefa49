import { AccessRules, type Assignment, Role } from "../protocol/roles/role.ts";
import { builtInRolesByName } from "../protocol/roles/built-in-roles.ts";
import type { ServiceName } from "../protocol/names.ts";

/** Who may call the server with bearer tokens, as requests see it: principals, role assignments and
 *  trusted issuers. `parse-identity.ts` reads them from the configuration, `identity-manager.ts`
 *  adds those of the store, `rulesByAccount` prepares them for the checks of requests. */

/** Principals, role assignments and trusted issuers, which Azure has in Entra ID and in its
 *  management plane. */
export interface IdentitySettings {
  readonly principals: readonly PrincipalSettings[];
  /** The built-in roles, followed by custom roles. */
  readonly roles: readonly Role[];
  readonly assignments: readonly RoleAssignment[];
  readonly issuers: readonly IssuerSettings[];
  readonly managedIdentity: ManagedIdentity | undefined;
  /** Whether roles decide about bearer tokens. Otherwise an accepted token permits everything. */
  readonly hasRoles: boolean;
  /** Stored principals and role assignments that are not used, because the configuration
   *  contradicts them. */
  readonly ignored?: readonly IgnoredIdentity[];
}

/** A stored principal or role assignment that the configuration contradicts. */
export interface IgnoredIdentity {
  readonly kind: "principal" | "role assignment";
  /** The name of the principal, or the id of the assignment. */
  readonly id: string;
  readonly problem: string;
}

/** A user or application to which the local token service issues tokens. */
export interface PrincipalSettings {
  readonly name: string;
  readonly objectId: string;
  /** The application id, with which clients ask for tokens. */
  readonly clientId: string;
  /** Undefined if the principal cannot log in with a secret. */
  readonly secret: string | undefined;
  /** Object ids of the groups of the principal. */
  readonly groups: readonly string[];
  /** Set if the principal was created by the admin API. */
  readonly isStored?: true;
}

export interface RoleAssignment {
  /** Object id of a principal or group. */
  readonly objectId: string;
  readonly role: Role;
  /** Undefined if the assignment is for all accounts. */
  readonly account: string | undefined;
  readonly scope: { readonly service: ServiceName; readonly name: string } | undefined;
  /** Id of an assignment that the admin API has created; undefined for configured assignments. */
  readonly id?: string;
}

/** An OpenID Connect provider whose tokens are accepted. */
export interface IssuerSettings {
  /** The value of the claim `iss` in tokens of the issuer. */
  readonly issuer: string;
  /** Accepted values of `aud`; empty: those of Azure Storage. */
  readonly audiences: readonly string[];
  /** The address of its keys; undefined: found in `/.well-known/openid-configuration`. */
  readonly jwks: string | undefined;
  /** Names of the accounts that accept tokens of the issuer; undefined: all accounts. */
  readonly accounts: readonly string[] | undefined;
  /** Names of the claims that identify a caller. */
  readonly claims: ClaimNames;
}

export interface ClaimNames {
  readonly objectId: string;
  readonly tenantId: string;
  readonly groups: string;
}

export const defaultClaims: ClaimNames = { objectId: "oid", tenantId: "tid", groups: "groups" };

/** The principal of programs that use the managed-identity endpoint, and the secret for it. */
interface ManagedIdentity {
  readonly principal: PrincipalSettings;
  readonly secret: string;
}

export const noIdentity: IdentitySettings = {
  principals: [],
  roles: [],
  assignments: [],
  issuers: [],
  managedIdentity: undefined,
  hasRoles: false,
};

/** The principal of a developer who runs the server on the same machine. It has all roles
 *  (`withDeveloper`), and exists only while every account key is a published one and every listener
 *  is on a loopback address: then there is nothing to protect. */
export const developerPrincipal: PrincipalSettings = {
  name: "developer",
  objectId: "d0000000-0000-4000-8000-000000000001",
  clientId: "d0000000-0000-4000-8000-000000000002",
  secret: undefined,
  groups: [],
};

/** The texts that identify a principal in logins, token requests and role assignments, in lower
 *  case. No two principals may share one, because a login could find the wrong principal. */
export function identityNames(principal: PrincipalSettings): readonly string[] {
  const { name, objectId, clientId } = principal;
  return [name, objectId, clientId].map((text) => text.toLowerCase());
}

const developerRoles = [
  "Storage Blob Data Owner",
  "Storage Queue Data Contributor",
  "Storage Table Data Contributor",
  "Storage File Data Privileged Contributor",
  "Storage Account Contributor",
];

/** Adds the developer identity with full access. */
export function withDeveloper(identity: IdentitySettings): IdentitySettings {
  const { objectId } = developerPrincipal;
  const assignments = developerRoles.map((name) => ({
    objectId,
    role: builtInRole(name),
    account: undefined,
    scope: undefined,
  }));
  return {
    ...identity,
    principals: [developerPrincipal, ...identity.principals],
    assignments: [...assignments, ...identity.assignments],
  };
}

function builtInRole(name: string): Role {
  const definition = builtInRolesByName.get(name.toLowerCase());
  if (definition === undefined) throw new Error(`no built-in role ${name}`);
  return new Role(definition);
}

/** The accounts of role assignments and issuers that are not in `names`. */
export function unknownAccounts(
  { assignments, issuers }: IdentitySettings,
  names: readonly string[],
): readonly string[] {
  const known = new Set(names);
  const named = [
    ...assignments.flatMap(({ account }) => account ?? []),
    ...issuers.flatMap(({ accounts }) => accounts ?? []),
  ];
  return [...new Set(named)].filter((name) => !known.has(name));
}

/** The principals and groups of role assignments that cannot exist: there is no issuer but the
 *  local token service, and it does not know them. */
export function unknownPrincipals(identity: IdentitySettings): readonly string[] {
  const { principals, assignments, issuers } = identity;
  if (issuers.length > 0) return [];
  const known = principals.flatMap(({ objectId, groups }) => [objectId, ...groups]);
  const ids = new Set(known.map((id) => id.toLowerCase()));
  const named = new Set(assignments.map(({ objectId }) => objectId));
  return [...named].filter((id) => !ids.has(id.toLowerCase()));
}

/** Returns the function that gives the rules of an account. Principals get the assignments of the
 *  groups in which the configuration lists them, because a user delegation SAS does not name the
 *  groups of its signer. The cost is that of the assignments and principals together, however many
 *  accounts there are: it is paid in one iteration of the event loop. */
export function rulesByAccount(
  identity: IdentitySettings,
): (account: string) => AccessRules | undefined {
  if (!identity.hasRoles) return () => undefined;
  const byAccount = new Map<string | undefined, Map<string, Assignment[]>>();
  for (const { objectId, role, account, scope } of identity.assignments) {
    const byId = entryOf(byAccount, account, () => new Map<string, Assignment[]>());
    entryOf(byId, objectId.toLowerCase(), () => []).push({ role, scope });
  }
  const groups = new Map<string, readonly string[]>();
  for (const { objectId, groups: names } of identity.principals) {
    const ids = names.map((id) => id.toLowerCase());
    if (ids.length > 0) groups.set(objectId.toLowerCase(), ids);
  }
  const shared = new AccessRules(byAccount.get(undefined) ?? new Map(), { groups });
  return (account) => {
    const own = byAccount.get(account);
    return own === undefined ? shared : new AccessRules(own, { groups, shared });
  };
}

/** The value of a key of a map. It is created and stored if the map does not have it. */
function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const present = map.get(key);
  if (present !== undefined) return present;
  const created = create();
  map.set(key, created);
  return created;
}
