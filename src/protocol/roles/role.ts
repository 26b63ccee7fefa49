import type { AclCaller } from "../posix-access.ts";
import type { Principal } from "../principal.ts";
import type { ServiceName } from "../names.ts";

/** Roles of Azure (RBAC): which actions one grants, and whether the role assignments of an account
 *  permit a request. Actions have the names of Azure's role definitions. */

const prefix = "Microsoft.Storage/storageAccounts/";

/** The actions that an operation needs: alternatives, of which one must be granted completely.
 *  `[[]]` needs nothing, `[]` is never granted. Get Messages: `[[process], [delete, read]]`. */
export type ActionNeed = readonly (readonly string[])[];

/** The full name of an action: `blobServices/containers/read`, for example, with the prefix of all
 *  storage actions. */
export function storageAction(name: string): string {
  return prefix + name;
}

/** The full name of an action on event subscriptions. */
export function subscriptionAction(name: string): string {
  return `Microsoft.EventGrid/eventSubscriptions/${name}`;
}

/** The need of an operation that requires all these actions together. */
export function every(...names: readonly string[]): ActionNeed {
  return [names.map(storageAction)];
}

/** The need of an operation that requires one of these actions. */
export function either(...names: readonly string[]): ActionNeed {
  return names.map((name) => [storageAction(name)]);
}

/** The need of an operation that every authenticated caller may use. */
export const nothingNeeded: ActionNeed = [[]];

const dataForms = ["/blobs/", "/messages/", "/entities/", "/files/", "filebackupsemantics/"];

/** Whether a role grants the action by `dataActions` instead of `actions`: it concerns what a
 *  container, queue, table or share contains. */
function isDataAction(action: string): boolean {
  const lower = action.toLowerCase();
  return dataForms.some((form) => lower.includes(form));
}

/** Converts an action of a role definition to a regular expression; `*` stands for any text. */
function actionPattern(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "i");
}

/** A role definition in Azure's form. `*` in an action stands for any text. */
export interface RoleDefinition {
  readonly name: string;
  /** The id of the built-in role in Azure; undefined for a custom role. */
  readonly id?: string | undefined;
  /** Operations on the account, its containers, queues, tables and shares. */
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
  /** Operations on blobs, messages, entities and files. */
  readonly dataActions: readonly string[];
  readonly notDataActions: readonly string[];
}

/** Most cached actions of a role. There are fewer: they come from declarations of operations. */
const cachedMax = 256;

/** A role that answers whether it grants an action. Patterns are compiled once and answers cached,
 *  because each request asks. */
export class Role {
  readonly name: string;
  readonly definition: RoleDefinition;
  readonly #granted: Readonly<Record<"control" | "data", readonly RegExp[]>>;
  readonly #excluded: Readonly<Record<"control" | "data", readonly RegExp[]>>;
  readonly #known = new Map<string, boolean>();

  constructor(definition: RoleDefinition) {
    this.name = definition.name;
    this.definition = definition;
    this.#granted = {
      control: definition.actions.map(actionPattern),
      data: definition.dataActions.map(actionPattern),
    };
    this.#excluded = {
      control: definition.notActions.map(actionPattern),
      data: definition.notDataActions.map(actionPattern),
    };
  }

  /** Whether the role grants the action and does not exclude it. */
  grants(action: string): boolean {
    const known = this.#known.get(action);
    if (known !== undefined) return known;
    const kind = isDataAction(action) ? "data" : "control";
    const matches = (pattern: RegExp): boolean => pattern.test(action);
    const granted = this.#granted[kind].some(matches) && !this.#excluded[kind].some(matches);
    if (this.#known.size < cachedMax) this.#known.set(action, granted);
    return granted;
  }
}

/** The names of the roles that grant what an operation needs, so that a rejection can name them. */
export function rolesGranting(need: ActionNeed, roles: readonly Role[]): readonly string[] {
  const grantsAll = (role: Role): boolean =>
    need.some((actions) => actions.every((action) => role.grants(action)));
  return roles.filter(grantsAll).map(({ name }) => name);
}

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

/** The caller for the check of access control lists, which may permit what its roles do not. */
export function listCallerOf(caller: RoleCaller): AclCaller {
  const groups = caller.kind === "bearer" ? caller.groups : undefined;
  return { objectId: caller.objectId, groups: groups ?? [] };
}

/** The user that a user delegation SAS names as unauthorised (`suoid`): access control lists decide
 *  about each of its requests, also if the signer has a role. Undefined for other callers. */
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

/** The container, queue, table or share that a role assignment is limited to. */
interface AssignmentScope {
  readonly service: ServiceName;
  readonly name: string;
}

/** A role assignment: a role of a principal or group, for the whole account or a part of it. */
export interface Assignment {
  readonly role: Role;
  /** Undefined for the whole account. */
  readonly scope: AssignmentScope | undefined;
}

/** The resource that a request addresses; without a name the account itself. */
export interface RoleTarget {
  readonly service: ServiceName;
  readonly name: string | undefined;
}

const none: readonly Assignment[] = [];

/** Role assignments by the object id of a user, application or group. */
type AssignmentsById = ReadonlyMap<string, readonly Assignment[]>;
/** The ids of the groups of principals, by object id. */
type GroupsById = ReadonlyMap<string, readonly string[]>;

/** The role assignments of one account. Immutable: a changed configuration creates a new object. */
export class AccessRules {
  readonly #byPrincipal: AssignmentsById;
  readonly #groups: GroupsById;
  readonly #shared: AccessRules | undefined;

  /** `shared` has the assignments that apply to all accounts. Keys are in lower case. */
  constructor(
    byPrincipal: AssignmentsById,
    { groups, shared }: { readonly groups: GroupsById; readonly shared?: AccessRules },
  ) {
    this.#byPrincipal = byPrincipal;
    this.#groups = groups;
    this.#shared = shared;
  }

  /** Whether the roles of a caller and of its groups grant what an operation needs: all actions of
   *  one of the alternatives in `need`. */
  allows(ids: readonly string[], need: ActionNeed, target: RoleTarget): boolean {
    const held = this.heldBy(ids);
    return need.some((actions) =>
      actions.every((action) =>
        held.some(({ role, scope }) => role.grants(action) && covers(scope, target)),
      ),
    );
  }

  /** The assignments of these principals and groups, and of the groups of these principals. */
  heldBy(ids: readonly string[]): readonly Assignment[] {
    const named = ids.map((id) => id.toLowerCase());
    const all = new Set([...named, ...named.flatMap((id) => this.#groups.get(id) ?? [])]);
    const held = [...all].flatMap((id) => this.#byPrincipal.get(id) ?? none);
    return this.#shared === undefined ? held : [...this.#shared.heldBy(ids), ...held];
  }
}

/** Whether an assignment with this scope applies to the target. */
function covers(scope: AssignmentScope | undefined, { service, name }: RoleTarget): boolean {
  if (scope === undefined) return true;
  if (scope.service !== service || name === undefined) return false;
  // Names of tables are compared without case, the others are lower case.
  return scope.name === name || scope.name.toLowerCase() === name.toLowerCase();
}
