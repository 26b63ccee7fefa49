import { accounts } from "./accounts.ts";
import type { Capabilities, Permissions, ServiceName } from "./admin/server.ts";
import { allAbilities, type Abilities } from "./parts/abilities.ts";
import { useStore } from "./store.ts";

const everything: Capabilities = {
  list: true,
  manage: true,
  read: true,
  write: true,
  delete: true,
  sign: true,
  process: true,
  update: true,
  tag: true,
};

/** What the login may do with a service of an account, or with one container, queue, table or
 *  share. The services check each request; this only hides what would be rejected. */
export function useCapabilities(account: string, service: ServiceName, name = ""): Capabilities {
  const known = useStore(accounts).find((each) => each.name === account);
  const permissions = known?.permissions;
  if (permissions === undefined) return everything;
  const scope = permissions.scopes.find((each) => each.service === service && each.name === name);
  const granted = scope ?? permissions.services[service];
  if (service !== "blob" || known?.hierarchicalNamespace !== true) return granted;
  // Access control lists may permit what roles do not; they are not about containers.
  return { ...granted, read: true, write: true, delete: true };
}

/** What the login may do with a container, queue, table or share, or with the list of them if
 *  `name` is empty. */
export function useAbilitiesIn(account: string, service: ServiceName, name = ""): Abilities {
  const permissions = useStore(accounts).find((each) => each.name === account)?.permissions;
  const own = useCapabilities(account, service, name);
  if (permissions === undefined) return allAbilities;
  const scopes = permissions.scopes.filter((each) => each.service === service);
  const copy = own.write || [permissions.services[service], ...scopes].some(({ write }) => write);
  return {
    read: true,
    manage: own.manage,
    write: own.write,
    delete: own.delete,
    copy,
    move: own.delete && copy,
    process: own.process,
    update: own.update,
    tag: own.tag,
    administer: false,
  };
}

/** Whether the login may create SAS for a service: with the account key, or as a principal. */
export function useMaySign(account: string, service: ServiceName): boolean {
  const known = useStore(accounts).find((each) => each.name === account);
  return known?.permissions === undefined || known.permissions.services[service].sign;
}

/** Whether the login may do anything with a service. */
export function mayUse(permissions: Permissions | undefined, service: ServiceName): boolean {
  if (permissions === undefined) return true;
  const { list, read, write } = permissions.services[service];
  return list || read || write || permissions.scopes.some((each) => each.service === service);
}
