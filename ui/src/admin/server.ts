import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { AccountKeys, Session } from "../../../src/admin/api-types.ts";
import type { ServerInfo } from "../../../src/admin/route-table.ts";
import type { Account } from "../../../src/admin/views/accounts.ts";

export type { ServerInfo } from "../../../src/admin/route-table.ts";
export type { Account } from "../../../src/admin/views/accounts.ts";
export type {
  Capabilities,
  Permissions,
  Session,
  LoginMethod,
  AccountKeys,
  ServiceName,
} from "../../../src/admin/api-types.ts";

export const getServer = (signal?: AbortSignal): Promise<Result<ServerInfo>> =>
  admin("server", { signal });

export const getAccounts = (
  signal?: AbortSignal,
): Promise<Result<{ readonly accounts: readonly Account[] }>> => admin("accounts", { signal });

export const getSession = (): Promise<Result<Session>> => admin("session");

export const logIn = (
  proof:
    | { readonly account: string; readonly key: string }
    | { readonly token: string }
    | { readonly link: string }
    | { readonly principal: string; readonly secret?: string }
    | { readonly bearer: string },
): Promise<Result<unknown>> => admin("session", { method: "POST", body: proof });

export const logOut = (): Promise<Result<unknown>> => admin("session", { method: "DELETE" });

export const getKeys = (account: string): Promise<Result<AccountKeys>> =>
  admin(`accounts/${encodeURIComponent(account)}/key`);

/** Creates a stored account; the response has its keys. */
export const createAccount = (
  name: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Result<AccountKeys>> => admin("accounts", { method: "POST", body: { name, settings } });

/** Deletes a stored account with everything in it. */
export const deleteAccount = (name: string): Promise<Result<unknown>> =>
  admin(`accounts/${encodeURIComponent(name)}`, { method: "DELETE", query: { force: "true" } });

/** Changes the settings of a stored account. */
export const changeAccount = (
  account: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Result<Account>> =>
  admin(`accounts/${encodeURIComponent(account)}/settings`, { method: "POST", body: settings });
