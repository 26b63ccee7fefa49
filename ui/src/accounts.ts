import type { Account, ServerInfo, Session } from "./admin/server.ts";
import { createStore } from "./store.ts";

/** The accounts that the login administers; loaded once when the page starts. */
export const accounts = createStore<readonly Account[]>([]);
export const session = createStore<Session | undefined>(undefined);
export const server = createStore<ServerInfo | undefined>(undefined);
