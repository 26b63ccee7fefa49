import { accounts } from "./accounts.ts";
import type { Capabilities, Permissions, ServiceName } from "./admin/server.ts";
import { useStore } from "./store.ts";

const everything: Capabilities = {
  list: true,
  manage: true,
  read: true,
  write: true,
  delete: true,
  sign: true,
};

/** What the login may do with a service of an account, or with one container, queue, table or
 *  share. The services check each request; this only hides what would be rejected. */
export function useCapabilities(account: string, service: ServiceName, name = ""): Capabilities {
  const known = useStore(accounts).find((each) => each.name === account);
  const permissions = known?.permissions;
  if (permissions === undefined) return everything;
  // Access control lists may permit what roles do not.
  if (service === "blob" && known?.hierarchicalNamespace === true) return everything;
  const scope = permissions.scopes.find((each) => each.service === service && each.name === name);
  return scope ?? permissions.services[service];
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
