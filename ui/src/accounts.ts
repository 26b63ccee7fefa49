import type { Account, ServerInfo, Session } from "./admin/server.ts";
import { createStore } from "./store.ts";

/** What the page learns once at the beginning. */
export const accounts = createStore<readonly Account[]>([]);
export const session = createStore<Session | undefined>(undefined);
export const server = createStore<ServerInfo | undefined>(undefined);
