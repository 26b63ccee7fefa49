import { builtInRoles } from "../protocol/roles/built-in-roles.ts";
import { Role } from "../protocol/roles/role.ts";
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
  containerName,
  FieldPlace,
  isObject,
  readFields,
  required,
  resourceName,
  tableName,
  text,
  texts,
  type FieldInputs,
  type Form,
  type SettingsResult,
  type TextForm,
} from "./field-table.ts";

/** Parses the parts of a configuration that `identity.ts` describes: principals, roles, role
 *  assignments, issuers. Also parses single principals and role assignments that the admin API
 *  stores. */

/** The parts of a configuration beside "accounts". */
export interface IdentityInput {
  readonly principals?: Readonly<Record<string, PrincipalInput>>;
  readonly roles?: Readonly<Record<string, FieldInputs<typeof roleFields>>>;
  readonly roleAssignments?: readonly RoleAssignmentInput[];
  readonly issuers?: readonly IssuerInput[];
  readonly managedIdentity?: Readonly<Record<keyof typeof managedFields, string>>;
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

function lineForm(unitsMax: number): TextForm {
  const pattern = new RegExp(`^.{1,${unitsMax}}$`);
  return { pattern, allowed: `a text of 1 to ${unitsMax} characters in one line` };
}

/** A secret of a principal or of the managed identity. */
const secret: Form<string> = (value, place) => {
  const found = text(secretForm)(value, place);
  if (found === undefined) return undefined;
  if (found.length < secretUnitsMin || found.length > secretUnitsMax) {
    place.refuse(`must have ${secretUnitsMin} to ${secretUnitsMax} characters`);
  }
  return found;
};

const principalFields = {
  objectId: required(text(idForm)),
  clientId: text(idForm),
  secret,
  groups: texts(idForm),
};

export type PrincipalInput = FieldInputs<typeof principalFields> & { readonly objectId: string };

const roleFields = {
  actions: texts(actionForm),
  notActions: texts(actionForm),
  dataActions: texts(actionForm),
  notDataActions: texts(actionForm),
};

const scopeFields = {
  container: containerName,
  queue: resourceName,
  table: tableName,
  share: resourceName,
};
const scopeServices = { container: "blob", queue: "queue", table: "table", share: "file" } as const;

const assignmentFields = {
  /** Name of a principal, or the object id of a principal or group. */
  principal: required(text(principalForm)),
  /** Name or id of a built-in role, or the name of a custom one. */
  role: required(text(nameForm)),
  account: text(accountNameForm),
  ...scopeFields,
};

export type RoleAssignmentInput = FieldInputs<typeof assignmentFields> & {
  readonly principal: string;
  readonly role: string;
};

const managedFields = { principal: required(text(principalForm)), secret: required(secret) };

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
  const read = readFields(`principal "${name}"`, value, { fields: principalFields, problems });
  const { objectId = "", clientId = objectId, groups = [] } = read;
  return { name, objectId, clientId, secret: read.secret, groups };
}

/** Built-in and custom roles by name and id in lower case. */
function parseRoles(input: unknown, problems: string[]): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>();
  for (const definition of builtInRoles) {
    const role = new Role(definition);
    roles.set(definition.name.toLowerCase(), role).set(definition.id ?? "", role);
  }
  for (const [name, value] of entriesOf(input, "roles", problems)) {
    const read = readFields(`role "${name}"`, value, { fields: roleFields, problems });
    const { actions = [], notActions = [], dataActions = [], notDataActions = [] } = read;
    if (roles.has(name.toLowerCase())) problems.push(`role "${name}": this name is taken`);
    const definition = { name, actions, notActions, dataActions, notDataActions };
    roles.set(name.toLowerCase(), new Role(definition));
  }
  return roles;
}

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
  const { problems } = known;
  const read = readFields(title, value, { fields: assignmentFields, problems });
  const { principal, role: roleName, account } = read;
  const refuse = (field: string, why: string) => new FieldPlace(title, field, problems).refuse(why);
  const scopes = Object.entries(scopeServices).flatMap(([field, service]) => {
    const name = read[field as keyof typeof scopeFields];
    return name === undefined ? [] : [{ service, name }];
  });
  if (scopes.length > 1) refuse("scope", "name one container, queue, table or share");
  const role = known.roles.get(roleName?.toLowerCase() ?? "");
  if (roleName !== undefined && role === undefined) {
    refuse("role", `there is no role "${roleName}"; docs/IDENTITY.md lists them`);
  }
  if (principal === undefined || role === undefined) return undefined;
  const named = known.principals.find(({ name }) => name === principal);
  if (named === undefined && !idForm.pattern.test(principal)) {
    refuse("principal", `there is no principal "${principal}", and it is no object id`);
  }
  return { objectId: named?.objectId ?? principal, role, account, scope: scopes[0] };
}

function parseManagedIdentity(
  input: unknown,
  { principals, problems }: Known,
): IdentitySettings["managedIdentity"] {
  if (input === undefined) return undefined;
  const title = '"managedIdentity"';
  const { principal: name, secret: found } = readFields(title, input, {
    fields: managedFields,
    problems,
  });
  const principal = principals.find((each) => each.name === name);
  if (name !== undefined && principal === undefined) {
    new FieldPlace(title, "principal", problems).refuse(`there is no principal "${name}"`);
  }
  return principal && found !== undefined ? { principal, secret: found } : undefined;
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

/** Parses an address of an issuer. Its documents must not be forged on the way (`isProtected`). */
const address: Form<string> = (value, place) => {
  const found = text(addressForm)(value, place);
  if (found === undefined) return undefined;
  if (!URL.canParse(found)) return place.refuse("must be an address");
  if (isProtected(new URL(found))) return found;
  return place.refuse("must begin with https:// unless it is on this machine");
};

const claimFields = {
  objectId: text(claimForm),
  tenantId: text(claimForm),
  groups: text(claimForm),
};

const issuerFields = {
  issuer: required(address),
  audiences: texts(lineForm(512)),
  jwks: address,
  accounts: texts(accountNameForm),
  claims: parseClaims,
};

type IssuerInput = FieldInputs<Omit<typeof issuerFields, "claims">> & {
  readonly issuer: string;
  readonly claims?: FieldInputs<typeof claimFields>;
};

function parseIssuers(input: unknown, problems: string[]): readonly IssuerSettings[] {
  if (input === undefined) return [];
  if (!Array.isArray(input) || input.length > issuersMax) {
    problems.push(`"issuers" must be a list of at most ${issuersMax}`);
    return [];
  }
  const issuers = input.flatMap((value: unknown, index) => {
    const title = `issuer ${index + 1}`;
    const read = readFields(title, value, { fields: issuerFields, problems });
    const { issuer, audiences = [], jwks, accounts, claims = defaultClaims } = read;
    return issuer === undefined ? [] : [{ issuer, audiences, jwks, accounts, claims }];
  });
  const names = issuers.map(({ issuer }) => issuer);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) problems.push(`"issuers": ${twice} is listed twice`);
  return issuers;
}

/** Whether a document from this address cannot be forged on the way: it arrives encrypted, or from
 *  this machine. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || loopbackHosts.has(hostname);
}

function parseClaims(input: unknown, { problems }: FieldPlace): ClaimNames | undefined {
  if (input === undefined) return undefined;
  const read = readFields('"claims" of an issuer', input, { fields: claimFields, problems });
  const given = Object.entries(read).filter(([, name]) => name !== undefined);
  return { ...defaultClaims, ...Object.fromEntries(given) };
}
