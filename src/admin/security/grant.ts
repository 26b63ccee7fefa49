import type { Accounts } from "../../account/settings.ts";

/** What a caller administers: the whole server or one account. */
export type Grant =
  | { readonly kind: "server" }
  | { readonly kind: "account"; readonly account: string };

export const serverGrant: Grant = { kind: "server" };

/** Whether the caller administers an account. */
export function covers(grant: Grant, account: string): boolean {
  return grant.kind === "server" || grant.account === account;
}

/** The accounts that a grant covers; others are absent, as if they did not exist. */
export function coveredAccounts(accounts: Accounts, grant: Grant): Accounts {
  if (grant.kind === "server") return accounts;
  return {
    get: (name) => (covers(grant, name) ? accounts.get(name) : undefined),
    names: () => accounts.names().filter((name) => covers(grant, name)),
  };
}
