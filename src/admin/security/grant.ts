import type { Accounts } from "../../account/settings.ts";
import { actionNeedOf } from "../../protocol/roles/action-need.ts";
import type { ActionNeed } from "../../protocol/roles/actions.ts";
import type { ServiceName } from "../../protocol/service-name.ts";

/** What a caller administers: the whole server or one account. A principal administers nothing: it
 *  sees what its roles allow. */
export type Grant =
  | { readonly kind: "server" }
  | { readonly kind: "account"; readonly account: string }
  | PrincipalGrant;

/** A caller that is logged in as a principal. */
export interface PrincipalGrant {
  readonly kind: "principal";
  readonly name: string;
  readonly objectId: string;
  /** The object ids whose role assignments apply: its own and those of its groups. */
  readonly assigneeIds: readonly string[];
  /** Whether the principal or token that the login was made with is still accepted. */
  readonly isAccepted: () => boolean;
  /** Whether the services of an account, or one of them, accept it: a token may be for others
   *  only. */
  readonly isFor: (account: string, service?: ServiceName) => boolean;
  /** A bearer token for the services. */
  readonly token: () => Promise<string>;
}

/** A container, queue, table or share; without a name the service of the account. */
export interface ResourceName {
  readonly service: ServiceName;
  readonly account: string;
  readonly name: string | undefined;
}

export const serverGrant: Grant = { kind: "server" };

/** Whether the caller administers an account. */
export function covers(grant: Grant, account: string): boolean {
  return grant.kind === "server" || (grant.kind === "account" && grant.account === account);
}

/** The accounts that a grant covers; others are absent, as if they did not exist. */
export function coveredAccounts(accounts: Accounts, grant: Grant): Accounts {
  if (grant.kind === "server") return accounts;
  const isShown = (name: string): boolean =>
    grant.kind === "principal" ? hasAnyRole(accounts, grant, name) : covers(grant, name);
  return {
    get: (name) => (isShown(name) ? accounts.get(name) : undefined),
    names: () => accounts.names().filter(isShown),
  };
}

/** Without roles an accepted token permits everything. */
function hasAnyRole(
  accounts: Accounts,
  { assigneeIds, isFor }: PrincipalGrant,
  name: string,
): boolean {
  const account = accounts.get(name);
  if (account === undefined || !isFor(name)) return false;
  return account.roles === undefined || account.roles.heldBy(assigneeIds).length > 0;
}

/** Whether a caller may see the contents of a resource: as its administrator, or with a role that
 *  permits to read them now. */
export function maySee(accounts: Accounts, grant: Grant, resource: ResourceName): boolean {
  if (grant.kind !== "principal") return covers(grant, resource.account);
  return principalMay(accounts, grant, resource, readNeed(resource.service));
}

/** Whether the current roles of a principal grant what is needed. */
export function principalMay(
  accounts: Accounts,
  { assigneeIds, isFor }: PrincipalGrant,
  { account, service, name }: ResourceName,
  need: ActionNeed,
): boolean {
  const settings = accounts.get(account);
  if (settings === undefined || !isFor(account, service)) return false;
  return settings.roles?.allows(assigneeIds, need, { service, name }) ?? true;
}

/** The actions that reading a blob, message, entity or file needs. */
function readNeed(service: ServiceName): ActionNeed {
  return actionNeedOf(service, { permission: { resourceType: "o", letters: "r" } });
}
