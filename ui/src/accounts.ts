import type { Account, ServerInfo } from "./admin/server.ts";
import { createStore } from "./store.ts";

/** What the page learns once at the beginning. */
export const accounts = createStore<readonly Account[]>([]);
export const server = createStore<ServerInfo | undefined>(undefined);
