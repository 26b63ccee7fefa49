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
  /** Whether the account is in the configuration or in the store, where it can be changed. */
  readonly source?: "configured" | "stored";
  readonly versioning: boolean;
  readonly hierarchicalNamespace: boolean;
  readonly containerSoftDeleteDays: number;
  readonly shareSoftDeleteDays: number;
  readonly publicAccess: boolean;
  readonly sharedKey: boolean;
  readonly lastAccessTracking: boolean;
  readonly endpoints: Readonly<Record<string, string>>;
  /** What the principal of the login may do; undefined if the login administers the account. */
  readonly permissions?: Permissions;
}

export type ServiceName = "blob" | "queue" | "table" | "file";

/** What a principal may do with a service, or with one container, queue, table or share. */
export interface Capabilities {
  readonly list: boolean;
  readonly manage: boolean;
  readonly read: boolean;
  readonly write: boolean;
  readonly delete: boolean;
  /** Create SAS with a user delegation key. */
  readonly sign: boolean;
  /** Dequeue messages. */
  readonly process: boolean;
  /** Change messages in flight. */
  readonly update: boolean;
  /** Change the tags of blobs. */
  readonly tag: boolean;
}

export interface Permissions {
  readonly services: Readonly<Record<ServiceName, Capabilities>>;
  readonly scopes: readonly (Capabilities & {
    readonly service: ServiceName;
    readonly name: string;
  })[];
}

export interface Session {
  readonly loginRequired: boolean;
  readonly loggedIn: boolean;
  /** When the login ends; undefined without a login. */
  readonly expiresAt?: string;
  /** Set if the login administers only this account. */
  readonly account?: string;
  /** Set if the login is that of a principal. */
  readonly principal?: { readonly name: string; readonly objectId: string };
  readonly methods: readonly LoginMethod[];
}

export type LoginMethod = "key" | "token" | "principal" | "bearer";

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

export interface AccountKeys {
  readonly keys: readonly string[];
  readonly connectionString: string;
}

export const getKeys = (account: string): Promise<Result<AccountKeys>> =>
  admin(`accounts/${encodeURIComponent(account)}/key`);

/** Changes the settings of a stored account. */
export const changeAccount = (
  account: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Result<Account>> =>
  admin(`accounts/${encodeURIComponent(account)}/settings`, { method: "POST", body: settings });
