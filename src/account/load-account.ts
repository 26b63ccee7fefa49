import { newId } from "../operation/identifiers.ts";
import type { Transaction } from "../store/store.ts";
import { putRecord } from "../store/typed-records.ts";
import {
  findNameProblem,
  findProblem,
  newKey,
  putState,
  stateOf,
  storedAccountsMax,
  type AccountChangeParts,
} from "./account-changes.ts";
import { withQuota } from "./account-quota.ts";
import {
  accounts,
  readAccount,
  type AccountRecord,
  type StoredAccount,
  type StoredSettings,
} from "./account-record.ts";
import { hierarchical, reclaimAccount } from "./account-records.ts";
import { putAssignments } from "./identity-manager.ts";
import type { RoleAssignmentInput } from "./parse-identity.ts";
import type { AccountKeys } from "./settings.ts";
import { putSubscriptionIn } from "./subscription-changes.ts";
import type { Subscription } from "./subscription.ts";

/** The last step of `etagere load`, which reads an archive into the store: the loaded data is given
 *  to an account. `commands/archive/load-archive.ts` calls these functions in the transaction that
 *  makes the data visible. */

/** Data of an archive (`etagere load`), which was loaded under an id that no account has yet.
 *  `publishLoad` gives the id to an account, so that all data becomes visible at once. */
export interface AccountLoad extends Pick<AccountRecord, "id" | "properties"> {
  readonly name: string;
  readonly hierarchicalNamespace: boolean;
  /** Settings of an account that the load creates; undefined: the defaults. */
  readonly settings?: StoredSettings | undefined;
  /** Keys of an account that the load creates; undefined: random keys. */
  readonly keys?: AccountKeys | undefined;
  /** Event subscriptions by name. They replace those of the same names. */
  readonly subscriptions?: Readonly<Record<string, Subscription>> | undefined;
  readonly pausedSubscriptions?: readonly string[] | undefined;
  /** Role assignments of an account that the load creates: it changes no access to an existing
   *  one. */
  readonly roleAssignments?: readonly RoleAssignmentInput[] | undefined;
}

/** How a load treats accounts that exist already. */
export interface LoadRules {
  /** Whether the data of an account is replaced if there is any. */
  readonly replace: boolean;
  /** Whether the configuration has the account, so that it needs no keys in the store. */
  readonly isConfigured: (name: string, existing: AccountRecord | undefined) => boolean;
}

export interface AccountLoadResult {
  readonly name: string;
  readonly isReplaced: boolean;
  /** The keys of a created account. Undefined for an account that existed, which keeps its own, and
   *  for a configured one. */
  readonly keys?: AccountKeys | undefined;
}

/** Why data cannot be loaded into the account; undefined if it can. */
export async function findLoadProblem(
  { hasData }: AccountChangeParts,
  tx: Transaction,
  name: string,
  { replace, isConfigured }: LoadRules,
): Promise<string | undefined> {
  const existing = await readAccount(tx, name);
  if (existing === undefined) {
    return isConfigured(name, existing) ? undefined : findNameProblem(name)?.message;
  }
  if (replace || !(await hasData(tx, existing.id))) return undefined;
  return `account "${name}" has data: replace it (--replace), or load under another name (--as)`;
}

/** Why an account cannot have the namespace of the loaded data; undefined if it can. */
export async function findNamespaceProblem(
  tx: Transaction,
  { name, hierarchicalNamespace }: Pick<AccountLoad, "name" | "hierarchicalNamespace">,
): Promise<string | undefined> {
  const existing = await readAccount(tx, name);
  if (existing === undefined) return undefined;
  const present = existing.hierarchicalNamespace === true;
  if (present === hierarchicalNamespace) return undefined;
  const [own, archived] = present ? ["hierarchical", "flat"] : ["flat", "hierarchical"];
  return (
    `account "${name}" has a ${own} namespace, the archive a ${archived} one: ` +
    "load under another name (--as)"
  );
}

/** Gives loaded data to its account, in the transaction that makes it visible. Reclaim jobs remove
 *  the earlier data. An account that neither exists nor is configured is created in the store. */
export async function publishLoad(
  parts: AccountChangeParts,
  tx: Transaction,
  load: AccountLoad,
  { isConfigured }: LoadRules,
): Promise<AccountLoadResult | { readonly problem: string }> {
  const { name, id, properties, hierarchicalNamespace } = load;
  const existing = await readAccount(tx, name);
  const isReplaced = existing !== undefined && (await parts.hasData(tx, existing.id));
  if (existing !== undefined) reclaimAccount(tx, existing.id, parts.services);
  const namespace = hierarchicalNamespace ? hierarchical : {};
  const record: AccountRecord = { id, properties, ...namespace };
  // Whether keys and settings exist already, in the store or in the configuration.
  const isServed = existing?.stored !== undefined || isConfigured(name, existing);
  const created = isServed ? undefined : await newStored(parts, tx, load);
  if (created !== undefined && "problem" in created) return created;
  const problem = created && (await putAssignments(tx, parts.random, load));
  if (problem !== undefined) return { problem };
  const stored = existing?.stored ?? created;
  const quotaBytes = (existing === undefined ? stored?.settings : existing.quota)?.quotaBytes ?? 0;
  const { events } = existing ?? {};
  const unlimited = { ...record, ...(events && { events }), ...(stored && { stored }) };
  // The quota does not apply to the loaded bytes, which are not counted yet.
  const limited = await withQuota(tx, unlimited, quotaBytes, parts.hasData);
  putRecord(tx, accounts, name, limited);
  for (const [each, subscription] of Object.entries(load.subscriptions ?? {})) {
    const put = await putSubscriptionIn(tx, parts.random, {
      account: name,
      name: each,
      subscription,
      ...(load.pausedSubscriptions?.includes(each) === true && { isPaused: true }),
    });
    // A subscription of the configuration takes precedence over a loaded one of the same name.
    if (!put.ok && put.code !== "SubscriptionIsConfigured") return { problem: put.message };
  }
  return { name, isReplaced, ...(created && { keys: created.keys }) };
}

/** Keys and settings of a new account, or why there cannot be one. */
async function newStored(
  { random }: AccountChangeParts,
  tx: Transaction,
  { name, hierarchicalNamespace, ...load }: AccountLoad,
): Promise<StoredAccount | { readonly problem: string }> {
  const state = await stateOf(tx);
  if (state.count >= storedAccountsMax) {
    return { problem: `there are ${storedAccountsMax} stored accounts already` };
  }
  const keys = load.keys ?? [newKey(random), newKey(random)];
  const namespace = hierarchicalNamespace ? hierarchical : {};
  const { hierarchicalNamespace: _given, ...given } = load.settings ?? {};
  const settings: StoredSettings = { ...given, ...namespace };
  const problem = findProblem(name, keys, settings);
  if (problem !== undefined) return { problem: problem.message };
  const stored = { revision: newId(random), createdAt: tx.now, keys, settings };
  putState(tx, { name, stored, state, countDelta: 1, after: stored.revision });
  return stored;
}
