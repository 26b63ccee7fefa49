import { resolve } from "node:path";
import { AccountManager } from "../account/account-manager.ts";
import type { AccountChangeResult } from "../account/account-changes.ts";
import type { AccountKeys } from "../account/settings.ts";
import { formatIso } from "../base/dates.ts";
import { accountChangeParts } from "../data/ensure-accounts.ts";
import { isMissing, openDataLocation } from "../data/data-locations.ts";
import { realEnvironment } from "../host/world.ts";
import type { AccountAction } from "./account-command.ts";
import { callAdmin } from "./admin-client.ts";
import type { ServerAddress } from "./admin-client.ts";
import { withLoginLink } from "./login-command.ts";
import { quietLog } from "./with-stores.ts";

/** An account as `etagere account list` prints it. */
interface AccountRow {
  readonly name: string;
  readonly source: string;
  readonly hierarchicalNamespace?: boolean;
  readonly createdAt?: string;
}

/** The fields of an action's response that are printed. */
export interface AccountAnswer {
  readonly accounts?: readonly AccountRow[];
  readonly keys?: readonly string[];
  readonly connectionString?: string;
  /** The settings of the account. */
  readonly settings?: object;
  /** Set if the explorer requires a login since the action. */
  readonly explorerLink?: string;
}

interface RequestedAction {
  readonly does: AccountAction;
  readonly keys: readonly string[] | undefined;
  /** Source of the master key, for the folder of a stopped server. */
  readonly encryption?: string | undefined;
}

/** Runs the action on a running server. */
export async function runOnServer(
  server: ServerAddress,
  { does, keys }: RequestedAction,
): Promise<AccountAnswer> {
  const path = "/admin/v1/accounts";
  if (does.action === "list") {
    const listed = (await callAdmin(server, { method: "GET", path })) as Listed;
    const unserved = (listed.unserved ?? []).map(({ name }) => ({ name, source: "unserved" }));
    return { accounts: [...listed.accounts, ...unserved] };
  }
  if (does.action === "create") {
    const { name, settings, adopt } = does;
    const body = { name, settings, adopt, ...(keys && { keys }) };
    const create = () =>
      callAdmin(server, { method: "POST", path, body }) as Promise<AccountAnswer>;
    return await withLoginLink(server, create);
  }
  const own = `${path}/${encodeURIComponent(does.name)}`;
  switch (does.action) {
    case "delete": {
      const query = does.force ? "?force=true" : "";
      await callAdmin(server, { method: "DELETE", path: `${own}${query}` });
      return {};
    }
    case "rotate-key": {
      const body = { ...(keys && { key: keys[0] }) };
      const call = { method: "POST", path: `${own}/keys/${does.number}`, body } as const;
      return (await callAdmin(server, call)) as AccountAnswer;
    }
    case "settings":
      return { settings: await changeOnServer(server, own, does.settings) };
  }
}

interface Listed {
  readonly accounts: readonly AccountRow[];
  readonly unserved?: readonly { readonly name: string }[];
}

async function changeOnServer(server: ServerAddress, path: string, body: object): Promise<object> {
  const call = { method: "POST", path: `${path}/settings`, body } as const;
  return (await callAdmin(server, call)) as object;
}

/** Runs the action on the data folder of a server that is not running. Accounts of a configuration
 *  are unknown here. */
export async function runOnFolder(
  location: string,
  { does, keys, encryption }: RequestedAction,
): Promise<AccountAnswer> {
  const folder = { records: resolve(location), bytes: undefined, encryption };
  if (isMissing(folder)) throw new Error(`${location}: not a data folder, and no server uses it`);
  const world = realEnvironment(quietLog);
  const data = await openDataLocation(folder, world);
  try {
    const served = {
      isConfigured: () => false,
      apply: () => {},
      refresh: () => Promise.resolve(false),
    };
    const manager = new AccountManager(accountChangeParts(data.store, world.random), served);
    if (does.action !== "list") return answerOf(does, await change(manager, does, keys));
    const accounts = (await manager.list()).map(({ createdAt, ...row }) => ({
      ...row,
      ...(createdAt !== undefined && { createdAt: formatIso(createdAt) }),
    }));
    return { accounts };
  } finally {
    await data.close();
  }
}

type Change = Exclude<AccountAction, { action: "list" }>;

function change(
  manager: AccountManager,
  does: Change,
  keys: readonly string[] | undefined,
): Promise<AccountChangeResult> {
  switch (does.action) {
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

function answerOf({ action }: Change, result: AccountChangeResult): AccountAnswer {
  if (!result.ok) throw new Error(result.message);
  const { stored } = result.change;
  if (stored === undefined) return {};
  return action === "settings" ? { settings: stored.settings } : { keys: stored.keys };
}
