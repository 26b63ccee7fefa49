import type { LoginLink } from "../admin/api-types.ts";
import type { ChangeResult } from "../account/change-result.ts";
import { AccountManager, type AccountChange } from "../account/account-changes.ts";
import type { AccountKeys } from "../account/settings.ts";
import { formatIso } from "../base/dates.ts";
import { accountChangeParts } from "../data/ensure-accounts.ts";
import type { AccountRequest } from "./account-command.ts";
import { callAdmin, type ServerAddress } from "./admin-client.ts";
import { explorerLink } from "./login-command.ts";
import { withFolder } from "./with-stores.ts";

/** Carries out the actions of `etagere account`: on a running server, through its admin API, or on
 *  the data folder of a stopped one. Apart from `account-command.ts`, because it loads the modules
 *  of the store, which other commands do not need. */

/** The result of an action, for `etagere account` to print. Each action sets some of the fields. */
export interface AccountAnswer {
  readonly accounts?: readonly {
    readonly name: string;
    readonly source: string;
    readonly hierarchicalNamespace?: boolean;
    readonly createdAt?: string;
  }[];
  readonly keys?: readonly string[];
  readonly connectionString?: string;
  readonly settings?: object;
  /** Set if the explorer requires a login since the action. */
  readonly explorerLink?: string;
}

export async function runOnServer(
  server: ServerAddress,
  { action, name, number, settings, adopt, force, keys }: AccountRequest,
): Promise<AccountAnswer> {
  const path = "/admin/v1/accounts";
  const own = `${path}/${encodeURIComponent(name)}`;
  const call = async (method: "GET" | "POST" | "DELETE", at: string, body?: object) =>
    (await callAdmin(server, { method, path: at, ...(body && { body }) })) as AccountAnswer;
  switch (action) {
    case "list": {
      const { accounts = [], unserved = [] } = (await call("GET", path)) as ListedAccounts;
      const rows = unserved.map((each) => ({ name: each.name, source: "unserved" }));
      return { accounts: [...accounts, ...rows] };
    }
    case "create": {
      const body = { name, settings, adopt, ...(keys && { keys }) };
      const { link, ...created } = (await call("POST", path, body)) as CreatedAccount;
      return { ...created, ...(link && { explorerLink: explorerLink(server, { link }) }) };
    }
    case "delete":
      await call("DELETE", `${own}${force ? "?force=true" : ""}`);
      return {};
    case "rotate-key":
      return call("POST", `${own}/keys/${number}`, { ...(keys && { key: keys[0] }) });
    case "settings":
      return { settings: await call("POST", `${own}/settings`, settings) };
  }
}

/** The response to `create`. It has a login link if the explorer requires a login since then: a
 *  page that is open in a browser can no longer load anything. */
type CreatedAccount = AccountAnswer & LoginLink;

/** The response to `list`. Earlier releases have no field `unserved`, accounts that have only
 *  data. */
interface ListedAccounts extends AccountAnswer {
  readonly unserved?: readonly { readonly name: string }[];
}

/** Runs the action on the data folder of a server that is not running. The accounts of its
 *  configuration are unknown here, because this command does not read the configuration. */
export async function runOnFolder(
  folder: Parameters<typeof withFolder>[0],
  does: AccountRequest,
): Promise<AccountAnswer> {
  return withFolder(folder, async ({ store }, { random }) => {
    const refresh = () => Promise.resolve(false);
    const served = { isConfigured: () => false, apply: () => {}, refresh };
    const manager = new AccountManager(accountChangeParts(store, random), served);
    if (does.action !== "list") return answerOf(does, await change(manager, does, does.action));
    const accounts = (await manager.list()).map(({ createdAt, ...row }) => ({
      ...row,
      ...(createdAt !== undefined && { createdAt: formatIso(createdAt) }),
    }));
    return { accounts };
  });
}

function change(
  manager: AccountManager,
  { keys, ...does }: AccountRequest,
  action: Exclude<AccountRequest["action"], "list">,
): Promise<ChangeResult<AccountChange>> {
  switch (action) {
    case "create":
      return manager.create({ ...does, keys: keys as AccountKeys | undefined });
    case "delete":
      return manager.delete(does.name, does);
    case "rotate-key":
      return manager.rotateKey({ ...does, key: keys?.[0] });
    case "settings":
      return manager.changeSettings(does.name, does.settings);
  }
}

function answerOf({ action }: AccountRequest, result: ChangeResult<AccountChange>): AccountAnswer {
  if (!result.ok) throw new Error(result.message);
  const { stored } = result.value;
  if (stored === undefined) return {};
  return action === "settings" ? { settings: stored.settings } : { keys: stored.keys };
}
