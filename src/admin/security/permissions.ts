import type { AccountSettings } from "../../account/settings.ts";
import type { Permission } from "../../protocol/permission.ts";
import { actionNeedOf } from "../../protocol/roles/action-need.ts";
import type { ActionNeed } from "../../protocol/roles/actions.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { PrincipalGrant } from "./grant.ts";

/** What a principal may do with a service, or with one container, queue, table or share. */
export interface Capabilities {
  /** List the containers, queues, tables or shares of the account. */
  readonly list: boolean;
  /** Create and delete them. */
  readonly manage: boolean;
  readonly read: boolean;
  readonly write: boolean;
  readonly delete: boolean;
  /** Create user delegation SAS; only for the whole service. */
  readonly sign: boolean;
  /** Dequeue messages. */
  readonly process: boolean;
  /** Change messages in flight. */
  readonly update: boolean;
  /** Change the tags of blobs. */
  readonly tag: boolean;
}

/** The capabilities that the roles of a principal grant in an account. */
export interface Permissions {
  readonly services: Readonly<Record<ServiceName, Capabilities>>;
  /** What role assignments with a narrower scope add. */
  readonly scopes: readonly (Capabilities & {
    readonly service: ServiceName;
    readonly name: string;
  })[];
}

const serviceNames = ["blob", "queue", "table", "file"] as const;
const scopesMax = 1000;
/** The letters of writing to contents: Put Blob, Put Message, Update Entity, Put Range. */
const writeLetters: Readonly<Record<ServiceName, string>> = {
  blob: "w",
  queue: "a",
  table: "u",
  file: "w",
};

/** The permissions of a principal, so that a page can show only what it may do. They decide
 *  nothing: the services check each request. */
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
  const names = new Map(held.flatMap(({ scope }) => (scope ? [[keyOf(scope), scope]] : [])));
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

function keyOf({ service, name }: { readonly service: ServiceName; readonly name: string }) {
  return `${service}/${name}`;
}
