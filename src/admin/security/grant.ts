import type { Capabilities, Permissions } from "../api-types.ts";
import type { Accounts, AccountSettings } from "../../account/settings.ts";
import { actionNeedOf } from "../../protocol/roles/action-need.ts";
import { subscriptionAction, type ActionNeed } from "../../protocol/roles/role.ts";
import { serviceNames, type ServiceName } from "../../protocol/names.ts";
import type { Permission } from "../../protocol/permission.ts";

/** What a caller of the admin API may do, by the way in which it has logged in: it administers the
 *  whole server (admin token) or one account (account key). A principal administers nothing: it
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
  /** Whether the token is accepted by a service of the account, or by this service: the audience of
   *  a token may be another account or service. */
  readonly isFor: (account: string, service?: ServiceName) => boolean;
  /** Returns a bearer token with which the server calls the services for the principal. */
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
function covers(grant: Grant, account: string): boolean {
  return grant.kind === "server" || (grant.kind === "account" && grant.account === account);
}

/** The accounts that a grant covers. To the caller, all other accounts do not exist. */
export function coveredAccounts(accounts: Accounts, grant: Grant): Accounts {
  if (grant.kind === "server") return accounts;
  const isShown = (name: string): boolean =>
    grant.kind === "principal" ? hasAnyRole(accounts, grant, name) : covers(grant, name);
  return {
    get: (name) => (isShown(name) ? accounts.get(name) : undefined),
    names: () => accounts.names().filter(isShown),
  };
}

/** Whether the principal has a role in the account. If no roles are assigned at all, an accepted
 *  token permits everything. */
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

/** Whether a caller may do `action` with the event subscriptions of an account: with an account key
 *  only read them, as a principal what its roles permit. */
export function mayUseSubscriptions(
  accounts: Accounts,
  grant: Grant,
  { account, action }: { readonly account: string; readonly action: "read" | "write" | "delete" },
): boolean {
  if (grant.kind !== "principal") {
    return covers(grant, account) && (action === "read" || grant.kind === "server");
  }
  const resource: ResourceName = { service: "blob", account, name: undefined };
  return principalMay(accounts, grant, resource, [[subscriptionAction(action)]]);
}

/** Whether the current roles of a principal grant what is needed. */
function principalMay(
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

/** Bounds the response: further containers, queues, tables and shares with roles are omitted. */
const scopesMax = 1000;
/** The letter of a SAS that permits writing contents, by service: that of Put Blob, Put Message,
 *  Update Entity and Put Range. */
const writeLetters: Readonly<Record<ServiceName, string>> = {
  blob: "w",
  queue: "a",
  table: "u",
  file: "w",
};

/** The permissions of a principal in an account, by which the explorer shows only what it may do.
 *  They decide nothing: the services check each request. */
export function permissionsOf(
  { name: account, roles }: Pick<AccountSettings, "name" | "roles">,
  { assigneeIds, isFor }: PrincipalGrant,
): Permissions {
  const capabilities = (service: ServiceName, name: string | undefined): Capabilities => {
    const isAccepted = isFor(account, service);
    const may = (permission: Permission): boolean => {
      if (!isAccepted) return false;
      const need: ActionNeed = actionNeedOf(service, { permission });
      return roles?.allows(assigneeIds, need, { service, name }) ?? true;
    };
    return {
      list: name === undefined && may({ resourceType: "s", letters: "l" }),
      manage: may({ resourceType: "c", letters: "w" }),
      read: may({ resourceType: "o", letters: "r" }),
      write: may({ resourceType: "o", letters: writeLetters[service] }),
      delete: may({ resourceType: "o", letters: "d" }),
      sign: name === undefined && may({ resourceType: "s", bearerOnly: true }),
      process: service === "queue" && may({ resourceType: "o", letters: "p" }),
      update: service === "queue" && may({ resourceType: "o", letters: "u" }),
      tag: service === "blob" && may({ resourceType: "o", letters: "t" }),
    };
  };
  const held = roles?.heldBy(assigneeIds) ?? [];
  const names = new Map(
    held.flatMap(({ scope }) => (scope ? [[`${scope.service}/${scope.name}`, scope]] : [])),
  );
  const scopes = [...names.values()].slice(0, scopesMax);
  return {
    services: Object.fromEntries(
      serviceNames.map((service) => [service, capabilities(service, undefined)]),
    ) as Permissions["services"],
    scopes: scopes.map(({ service, name }) => ({
      service,
      name,
      ...capabilities(service, name),
    })),
  };
}
