import { actionPattern, isDataAction, type ActionNeed } from "./actions.ts";

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

/** Limit of the cache of a role. There are fewer actions: they come from declarations of
 *  operations. */
const cachedMax = 256;

/** A role with its patterns compiled. */
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

/** The names of the roles that alone grant all actions of one alternative. */
export function rolesGranting(need: ActionNeed, roles: readonly Role[]): readonly string[] {
  const grantsAll = (role: Role): boolean =>
    need.some((actions) => actions.every((action) => role.grants(action)));
  return roles.filter(grantsAll).map(({ name }) => name);
}
