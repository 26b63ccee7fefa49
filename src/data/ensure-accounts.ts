import type { AccountChangeParts } from "../account/account-changes.ts";
import { ensureSettings } from "../account/account-quota.ts";
import { ensureAccountRecords, hasRecords } from "../account/account-records.ts";
import type { Accounts } from "../account/settings.ts";
import { ensureSubscriptions } from "../account/subscription-changes.ts";
import type { Log, Random } from "../base/world.ts";
import type { Store, Transaction } from "../store/store.ts";
import type { ServedAccounts } from "./accounts.ts";
import { hasData, services } from "./services.ts";
import { StartRefused } from "../host/refused.ts";
import { containers, deletedContainers } from "../blob/records.ts";

/** Connects the accounts of the configuration with their records in the store, at the start of a
 *  server, after a reload and after a restore. */

/** What the folder `account/` needs of the services to change or delete stored accounts: their
 *  names, and whether an account has data or containers, which forbids some changes. It is passed
 *  in, because `account/` must not import the services. */
export function accountChangeParts(store: Store, random: Random): AccountChangeParts {
  const names = services.map(({ name }) => name);
  return { store, random, services: names, hasContainers, hasData };
}

/** Creates a record for every configured account that has none. Returns the settings that
 *  contradict an existing record. */
export function ensureAccounts(
  store: Store,
  accounts: Accounts,
  random: Random,
): Promise<readonly string[]> {
  const settings = accounts.names().flatMap((name) => accounts.get(name) ?? []);
  return ensureAccountRecords(store, settings, random, hasContainers);
}

/** Creates missing account records, and reads the stored accounts. Throws `StartRefused` if the
 *  configuration contradicts a record. */
export async function openAccountRecords(
  store: Store,
  { accounts, random, log }: AccountParts,
): Promise<void> {
  await refuseProblems(ensureAccounts(store, accounts, random));
  await accounts.serveStored(store, log);
  await ensureSettings(store, accounts, hasData);
  await refuseProblems(ensureSubscriptions(store, accounts, { random, log }));
}

/** Reads the configuration again, creates records of new accounts and applies their settings. */
export async function reloadAccounts(
  store: Store,
  { accounts, random, log }: AccountParts,
): Promise<void> {
  await accounts.reload(log, (next) => ensureAccounts(store, next, random));
  await ensureSettings(store, accounts, hasData);
  await ensureServedSubscriptions(store, { accounts, random, log });
}

/** Reads the stored accounts after a restore, and adds the records of accounts that were configured
 *  after the snapshot was saved. */
export async function completeAccounts(
  store: Store,
  { accounts, random, log }: AccountParts,
): Promise<void> {
  await accounts.refresh();
  const problems = await ensureAccounts(store, accounts, random);
  if (problems.length > 0) log.warn({ problems }, "restored accounts contradict the settings");
  await ensureSettings(store, accounts, hasData);
  await ensureServedSubscriptions(store, { accounts, random, log });
}

/** A running server goes on although subscriptions of the configuration cannot be stored. */
async function ensureServedSubscriptions(store: Store, parts: AccountParts): Promise<void> {
  const problems = await ensureSubscriptions(store, parts.accounts, parts);
  if (problems.length > 0) parts.log.warn({ problems }, "subscriptions were not configured");
}

/** Throws `StartRefused` if there are problems: a start must not ignore them. */
export async function refuseProblems(found: Promise<readonly string[]>): Promise<void> {
  const problems = await found;
  if (problems.length > 0) throw new StartRefused(problems);
}

interface AccountParts {
  readonly accounts: ServedAccounts;
  readonly random: Random;
  readonly log: Log;
}

/** Whether an account has a container, or a soft-deleted one that can be restored: its namespace
 *  cannot be changed then. */
async function hasContainers(tx: Transaction, account: bigint): Promise<boolean> {
  return (await hasRecords(tx, containers, account)) || hasRecords(tx, deletedContainers, account);
}
