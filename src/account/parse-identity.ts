import { builtInRoles } from "../protocol/roles/built-in-roles.ts";
import { Role } from "../protocol/roles/role.ts";
import type { ServiceName } from "../protocol/names.ts";
import {
  defaultClaims,
  type ClaimNames,
  type IdentitySettings,
  type IssuerSettings,
  type PrincipalSettings,
  type RoleAssignment,
} from "./identity.ts";
import {
  accountNameForm,
  isObject,
  ObjectReader,
  type SettingsResult,
  type TextForm,
} from "./object-reader.ts";

/** Parses the parts of a configuration that `identity.ts` describes: principals, roles, role
 *  assignments, issuers. Also parses single principals and role assignments that the admin API
 *  stores. */

/** The parts of a configuration beside "accounts". */
export interface IdentityInput {
  readonly principals?: Readonly<Record<string, PrincipalInput>>;
  readonly roles?: Readonly<Record<string, RoleInput>>;
  readonly roleAssignments?: readonly RoleAssignmentInput[];
  readonly issuers?: readonly IssuerInput[];
  readonly managedIdentity?: { readonly principal: string; readonly secret: string };
}

export interface PrincipalInput {
  readonly objectId: string;
  readonly clientId?: string;
  readonly secret?: string;
  readonly groups?: readonly string[];
}

interface RoleInput {
  readonly actions?: readonly string[];
  readonly notActions?: readonly string[];
  readonly dataActions?: readonly string[];
  readonly notDataActions?: readonly string[];
}

export interface RoleAssignmentInput {
  /** Name of a principal, or the object id of a principal or group. */
  readonly principal: string;
  /** Name or id of a built-in role, or the name of a custom one. */
  readonly role: string;
  readonly account?: string;
  readonly container?: string;
  readonly queue?: string;
  readonly table?: string;
  readonly share?: string;
}

interface IssuerInput {
  readonly issuer: string;
  readonly audiences?: readonly string[];
  readonly jwks?: string;
  readonly accounts?: readonly string[];
  readonly claims?: {
    readonly objectId?: string;
    readonly tenantId?: string;
    readonly groups?: string;
  };
}

export const identityFields = [
  "principals",
  "roles",
  "roleAssignments",
  "issuers",
  "managedIdentity",
] as const;

const idForm: TextForm = {
  pattern: /^[\w.@:|-]{1,128}$/,
  allowed: "1 to 128 letters, digits and . _ @ : | -",
};
/** Names of principals may have spaces. */
const principalForm = lineForm(128);
const nameForm = lineForm(256);
const actionForm: TextForm = {
  pattern: /^[A-Za-z0-9*./]{1,256}$/,
  allowed: "1 to 256 letters, digits and * . /",
};
const secretForm: TextForm = {
  pattern: /^[\x21-\x7e]*$/,
  allowed: "a text of ASCII characters without spaces",
};
const secretUnitsMin = 16;
const secretUnitsMax = 1024;
const listMax = 10_000;
const actionLists = ["actions", "notActions", "dataActions", "notDataActions"] as const;

function lineForm(unitsMax: number): TextForm {
  const pattern = new RegExp(`^.{1,${unitsMax}}$`);
  return { pattern, allowed: `a text of 1 to ${unitsMax} characters in one line` };
}

/** Parses principals, roles and issuers. They may name accounts that are not configured: these may
 *  be stored, or be created later. */
export function parseIdentity(
  input: Readonly<Record<string, unknown>>,
): SettingsResult<IdentitySettings> {
  const problems: string[] = [];
  const principals = parsePrincipals(input["principals"], problems);
  const roles = parseRoles(input["roles"], problems);
  const known = { principals, roles, problems };
  const assignments = parseAssignments(input["roleAssignments"], known);
  const issuers = parseIssuers(input["issuers"], problems);
  const managedIdentity = parseManagedIdentity(input["managedIdentity"], known);
  if (problems.length > 0) return { ok: false, problems };
  // Roles apply as soon as any part of the identity is configured.
  const hasRoles = identityFields.some((field) => input[field] !== undefined);
  // A built-in role is in the map by name and by id.
  const all = { principals, roles: [...new Set(roles.values())], assignments, issuers };
  return { ok: true, value: { ...all, managedIdentity, hasRoles } };
}

interface Known {
  readonly principals: readonly PrincipalSettings[];
  readonly roles: ReadonlyMap<string, Role>;
  readonly problems: string[];
}

function parsePrincipals(input: unknown, problems: string[]): readonly PrincipalSettings[] {
  const principals = entriesOf(input, "principals", problems).map(([name, value]) =>
    parsePrincipal(name, value, problems),
  );
  for (const field of ["objectId", "clientId"] as const) {
    const values = principals.map((each) => each[field].toLowerCase());
    const twice = values.find((value, at) => value !== "" && values.indexOf(value) < at);
    if (twice !== undefined) problems.push(`"principals": two have the ${field} "${twice}"`);
  }
  return principals;
}

export function parsePrincipal(
  name: string,
  value: unknown,
  problems: string[],
): PrincipalSettings {
  const reader = new ObjectReader(`principal "${name}"`, value, problems);
  const objectId = reader.text("objectId", idForm) ?? "";
  const parsed = {
    name,
    objectId,
    clientId: reader.optionalText("clientId", idForm) ?? objectId,
    secret: secretOf(reader),
    groups: reader.texts("groups", idForm) ?? [],
  };
  reader.end();
  return parsed;
}

function secretOf(reader: ObjectReader): string | undefined {
  const secret = reader.optionalText("secret", secretForm);
  if (secret === undefined) return undefined;
  if (secret.length < secretUnitsMin || secret.length > secretUnitsMax) {
    reader.refuse("secret", `must have ${secretUnitsMin} to ${secretUnitsMax} characters`);
  }
  return secret;
}

/** Built-in and custom roles by name and id in lower case. */
function parseRoles(input: unknown, problems: string[]): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>();
  for (const definition of builtInRoles) {
    const role = new Role(definition);
    roles.set(definition.name.toLowerCase(), role).set(definition.id ?? "", role);
  }
  for (const [name, value] of entriesOf(input, "roles", problems)) {
    const reader = new ObjectReader(`role "${name}"`, value, problems);
    const [actions = [], notActions = [], dataActions = [], notDataActions = []] = actionLists.map(
      (list) => reader.texts(list, actionForm) ?? [],
    );
    reader.end();
    if (roles.has(name.toLowerCase())) problems.push(`role "${name}": this name is taken`);
    const definition = { name, actions, notActions, dataActions, notDataActions };
    roles.set(name.toLowerCase(), new Role(definition));
  }
  return roles;
}

const scopeFields = [
  ["container", "blob"],
  ["queue", "queue"],
  ["table", "table"],
  ["share", "file"],
] as const satisfies readonly (readonly [string, ServiceName])[];

function parseAssignments(input: unknown, known: Known): readonly RoleAssignment[] {
  if (input === undefined) return [];
  if (!Array.isArray(input) || input.length > listMax) {
    known.problems.push(`"roleAssignments" must be a list of at most ${listMax}`);
    return [];
  }
  return input.flatMap(
    (value: unknown, index) => parseAssignment(`role assignment ${index + 1}`, value, known) ?? [],
  );
}

/** Parses a role assignment. Undefined if it has a problem. */
export function parseAssignment(
  title: string,
  value: unknown,
  known: Known,
): RoleAssignment | undefined {
  const reader = new ObjectReader(title, value, known.problems);
  const principal = reader.text("principal", principalForm);
  const roleName = reader.text("role", nameForm);
  const account = reader.optionalText("account", accountNameForm);
  const scopes = scopeFields.flatMap(([field, service]) => {
    const name = reader.optionalText(field, nameForm);
    return name === undefined ? [] : [{ service, name }];
  });
  reader.end();
  if (scopes.length > 1) reader.refuse("scope", "name one container, queue, table or share");
  const role = known.roles.get(roleName?.toLowerCase() ?? "");
  if (roleName !== undefined && role === undefined) {
    reader.refuse("role", `there is no role "${roleName}"; docs/IDENTITY.md lists them`);
  }
  if (principal === undefined || role === undefined) return undefined;
  const named = known.principals.find(({ name }) => name === principal);
  if (named === undefined && !idForm.pattern.test(principal)) {
    reader.refuse("principal", `there is no principal "${principal}", and it is no object id`);
  }
  return { objectId: named?.objectId ?? principal, role, account, scope: scopes[0] };
}

function parseManagedIdentity(input: unknown, known: Known): IdentitySettings["managedIdentity"] {
  if (input === undefined) return undefined;
  const reader = new ObjectReader('"managedIdentity"', input, known.problems);
  const name = reader.text("principal", principalForm);
  const secret = secretOf(reader);
  reader.end();
  if (secret === undefined) reader.refuse("secret", "is missing");
  const principal = known.principals.find((each) => each.name === name);
  if (name !== undefined && principal === undefined) {
    reader.refuse("principal", `there is no principal "${name}"`);
  }
  return principal && secret !== undefined ? { principal, secret } : undefined;
}

function entriesOf(
  input: unknown,
  field: string,
  problems: string[],
): readonly (readonly [string, unknown])[] {
  if (input === undefined) return [];
  const entries = isObject(input) ? Object.entries(input) : [];
  if (isObject(input) && entries.length <= listMax) return entries;
  problems.push(`"${field}" must be an object: { "name": { … } }`);
  return [];
}

const issuersMax = 64;
const addressForm: TextForm = {
  pattern: /^https?:\/\/[^\s?#]{1,1000}$/,
  allowed: "an http or https URL of at most 1,000 characters without a query and a fragment",
};
const claimForm: TextForm = {
  pattern: /^[\w.:/-]{1,128}$/,
  allowed: "1 to 128 letters, digits and . _ : / -",
};
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"]);

function parseIssuers(input: unknown, problems: string[]): readonly IssuerSettings[] {
  if (input === undefined) return [];
  if (!Array.isArray(input) || input.length > issuersMax) {
    problems.push(`"issuers" must be a list of at most ${issuersMax}`);
    return [];
  }
  const issuers = input.flatMap((value: unknown, index) => {
    const reader = new ObjectReader(`issuer ${index + 1}`, value, problems);
    const parsed = parseIssuer(reader, problems);
    reader.end();
    return parsed === undefined ? [] : [parsed];
  });
  const names = issuers.map(({ issuer }) => issuer);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) problems.push(`"issuers": ${twice} is listed twice`);
  return issuers;
}

function parseIssuer(reader: ObjectReader, problems: string[]): IssuerSettings | undefined {
  const issuer = addressOf(reader, "issuer", reader.text("issuer", addressForm));
  const jwks = addressOf(reader, "jwks", reader.optionalText("jwks", addressForm));
  const only = reader.texts("accounts", accountNameForm);
  const audiences = reader.texts("audiences", lineForm(512)) ?? [];
  const claims = parseClaims(reader.object("claims"), problems);
  if (issuer === undefined) return undefined;
  return { issuer, audiences, jwks, accounts: only, claims };
}

/** Whether a document from this address cannot be forged on the way: it arrives encrypted, or from
 *  this machine. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || loopbackHosts.has(hostname);
}

function addressOf(reader: ObjectReader, field: string, text: string | undefined) {
  if (text === undefined || !URL.canParse(text)) {
    if (text !== undefined) reader.refuse(field, "must be an address");
    return undefined;
  }
  if (isProtected(new URL(text))) return text;
  reader.refuse(field, "must begin with https:// unless it is on this machine");
  return undefined;
}

function parseClaims(input: unknown, problems: string[]): ClaimNames {
  if (input === undefined) return defaultClaims;
  const reader = new ObjectReader('"claims" of an issuer', input, problems);
  const claims = {
    objectId: reader.optionalText("objectId", claimForm) ?? defaultClaims.objectId,
    tenantId: reader.optionalText("tenantId", claimForm) ?? defaultClaims.tenantId,
    groups: reader.optionalText("groups", claimForm) ?? defaultClaims.groups,
  };
  reader.end();
  return claims;
}
