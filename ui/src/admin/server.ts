import type { Result } from "../result.ts";
import { admin } from "./call.ts";

export interface ServerInfo {
  readonly version: string;
  readonly now: string;
  readonly startedAt: string;
  readonly store: string;
  readonly content: string;
  readonly services: Readonly<Record<string, { readonly url: string }>>;
  readonly smb: { readonly url: string } | null;
}

export interface Account {
  readonly name: string;
  readonly versioning: boolean;
  readonly hierarchicalNamespace: boolean;
  readonly containerSoftDeleteDays: number;
  readonly endpoints: Readonly<Record<string, string>>;
}

export interface Session {
  readonly loginRequired: boolean;
  readonly loggedIn: boolean;
  /** When the login ends; undefined without a login. */
  readonly expiresAt?: string;
  /** Set if the login administers only this account. */
  readonly account?: string;
  readonly methods: readonly ("key" | "token")[];
}

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
    | { readonly link: string },
): Promise<Result<unknown>> => admin("session", { method: "POST", body: proof });

export const logOut = (): Promise<Result<unknown>> => admin("session", { method: "DELETE" });

export interface AccountKeys {
  readonly keys: readonly string[];
  readonly connectionString: string;
}

export const getKeys = (account: string): Promise<Result<AccountKeys>> =>
  admin(`accounts/${encodeURIComponent(account)}/key`);
