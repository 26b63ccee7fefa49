import type { Account, ServerInfo, Session } from "./admin/server.ts";
import { createStore, useStore } from "./store.ts";

/** The accounts that the login administers; loaded once when the page starts. */
export const accounts = createStore<readonly Account[]>([]);
export const session = createStore<Session | undefined>(undefined);
export const server = createStore<ServerInfo | undefined>(undefined);

/** Whether the blobs of the account are a tree of files and directories (Data Lake). */
export function useHierarchical(account: string): boolean {
  const known = useStore(accounts).find(({ name }) => name === account);
  return known?.hierarchicalNamespace === true;
}
