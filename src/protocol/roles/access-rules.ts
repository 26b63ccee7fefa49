import type { ServiceName } from "../names.ts";
import type { ActionNeed, Role } from "./role.ts";

/** The container, queue, table or share that a role assignment is limited to. */
interface AssignmentScope {
  readonly service: ServiceName;
  readonly name: string;
}

/** A role that a principal or group has. */
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

/** By object id of a user, application or group. */
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

  /** Whether the assignments of a caller, together with those of its groups, grant all actions of
   *  one alternative. */
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
