import { newId } from "../operation/identifiers.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Random } from "../base/world.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { Store, Transaction } from "../store/store.ts";
import { putRecord, readRecord } from "../store/typed-records.ts";
import {
  accounts,
  accountsState,
  readAccount,
  readAccounts,
  type AccountRecord,
  type StoredAccount,
  type StoredSettings,
} from "./account-record.ts";
import { refuseChange, type ChangeFault, type ChangeResult } from "./change-result.ts";
import { noteQuotaChange, withChangeFeed, withQuota } from "./account-quota.ts";
import {
  contradiction,
  hierarchical,
  newAccount,
  reclaimAccount,
  type IsUsed,
} from "./account-records.ts";
import { removeAccountAssignments } from "./identity-manager.ts";
import { parseAccountSettings } from "./parse-settings.ts";
import { removeSubscriptions } from "./subscription-changes.ts";
import type { AccountKeys } from "./settings.ts";

/** Creates, changes and deletes accounts that are kept in the store, each change in one
 *  transaction. The admin API and `etagere account` use `AccountManager`. Accounts of the
 *  configuration are not changed here: the operator edits the configuration. */

/** What changes of accounts need of the server: its store, random numbers and services. */
export interface AccountChangeParts {
  readonly store: Store;
  readonly random: Random;
  readonly services: readonly ServiceName[];
  /** Whether an account has containers; if so, its namespace cannot be changed. */
  readonly hasContainers: IsUsed;
  /** Whether an account has any data, soft-deleted data included: then it is only deleted with
   *  `force`, and only created again with `adopt`. */
  readonly hasData: IsUsed;
}

/** A committed change of a stored account, which `StoredAccounts` applies in this process. */
export interface AccountChange {
  readonly name: string;
  /** The account as it is stored after the change; undefined if it was deleted. */
  readonly stored: StoredAccount | undefined;
  /** Revisions of all stored accounts before and after it: a process sees if it has missed
   *  others. */
  readonly before: bigint | undefined;
  readonly after: bigint;
}

type Result = ChangeResult<AccountChange>;

/** Most stored accounts: each process keeps the settings of all in memory. */
export const storedAccountsMax = 10_000;
const keyBytes = 64;
/** Azure's rule for names, so an account can be moved to Azure. The configuration accepts more. */
const newNamePattern = /^[a-z0-9]{3,24}$/;

interface NewAccount {
  readonly name: string;
  /** Keys of the new account. Undefined: two random keys. */
  readonly keys?: AccountKeys | undefined;
  readonly settings: StoredSettings;
  /** Whether the account takes over the data that an account of this name has left, which was
   *  removed from the configuration. */
  readonly adopt: boolean;
}

export function createAccount(
  parts: AccountChangeParts,
  { name, keys: given, settings, adopt }: NewAccount,
): Promise<Result> {
  const keys = given ?? [newKey(parts.random), newKey(parts.random)];
  const problem = findProblem(name, keys, settings) ?? (adopt ? undefined : findNameProblem(name));
  if (problem !== undefined) return Promise.resolve(problem);
  return parts.store.transact(async (tx) => {
    const existing = await readAccount(tx, name);
    if (existing?.stored !== undefined) return exists(name, "it is stored already");
    if (existing !== undefined && !adopt && (await parts.hasData(tx, existing.id))) {
      return exists(name, "it has data, although it is not configured; adopt it or delete it");
    }
    const state = await stateOf(tx);
    if (state.count >= storedAccountsMax) {
      return refuseChange(
        "TooManyAccounts",
        `there are ${storedAccountsMax} stored accounts already`,
      );
    }
    const base = existing ?? newAccount(parts.random);
    const record = await withSettings(parts, tx, base, settings);
    if (record === undefined) return refuseChange("InvalidInput", contradiction(name, base));
    const stored = { revision: newId(parts.random), createdAt: tx.now, keys, settings };
    return putChange(tx, { name, record: { ...record, stored }, state, countDelta: 1 });
  });
}

interface KeyRotation {
  readonly name: string;
  readonly number: 1 | 2;
  /** The new key. Undefined: a random key. */
  readonly key?: string | undefined;
}

/** Returns the record with the namespace, quota and change feed of the settings; undefined if its
 *  data has the other namespace. */
async function withSettings(
  { hasContainers, hasData }: AccountChangeParts,
  tx: Transaction,
  record: AccountRecord,
  { hierarchicalNamespace = false, quotaBytes = 0, ...others }: StoredSettings,
): Promise<AccountRecord | undefined> {
  const { hierarchicalNamespace: present = false, ...rest } = record;
  const isChanged = present !== hierarchicalNamespace;
  if (isChanged && (await hasContainers(tx, record.id))) return undefined;
  const changed = hierarchicalNamespace ? { ...rest, ...hierarchical } : rest;
  const logged = withChangeFeed(isChanged ? changed : record, others);
  // Last, because `withQuota` writes in the transaction: a change that is rejected must write
  // nothing.
  return withQuota(tx, logged, quotaBytes, hasData);
}

export function findProblem(
  name: string,
  keys: AccountKeys,
  settings: object,
): ChangeFault | undefined {
  if ("keys" in settings) return refuseChange("InvalidInput", '"keys" is no setting: rotate keys');
  if ("subscriptions" in settings) {
    return refuseChange("InvalidInput", '"subscriptions" is no setting of a stored account');
  }
  const parsed = parseAccountSettings(name, { ...settings, keys });
  return parsed.ok ? undefined : refuseChange("InvalidInput", parsed.problems.join("; "));
}

export function findNameProblem(name: string): ChangeFault | undefined {
  if (newNamePattern.test(name)) return undefined;
  return refuseChange("InvalidInput", `"${name}": a name is 3 to 24 lower-case letters and digits`);
}

/** Number of stored accounts, and the revision of their last change; undefined: none ever was. */
interface State {
  readonly revision: bigint | undefined;
  readonly count: number;
}

export async function stateOf(tx: Transaction): Promise<State> {
  return (await readRecord(tx, accountsState, "accounts")) ?? { revision: undefined, count: 0 };
}

interface RecordChange {
  readonly name: string;
  readonly record: AccountRecord & { readonly stored: StoredAccount };
  readonly state: State;
  readonly countDelta: number;
}

function putChange(tx: Transaction, change: RecordChange): Result {
  const { name, record, state, countDelta } = change;
  putRecord(tx, accounts, name, record);
  const { stored } = record;
  return putState(tx, { name, stored, state, countDelta, after: stored.revision });
}

interface StateChange extends Omit<RecordChange, "record"> {
  readonly stored: StoredAccount | undefined;
  readonly after: bigint;
}

export function putState(
  tx: Transaction,
  { name, stored, state, countDelta, after }: StateChange,
): Result {
  const next = { revision: after, count: state.count + countDelta };
  putRecord(tx, accountsState, "accounts", next);
  return { ok: true, value: { name, stored, before: state.revision, after } };
}

export function newKey(random: Random): string {
  return Buffer.from(random.bytes(keyBytes)).toString("base64");
}

function notFound(name: string): ChangeFault {
  return refuseChange("AccountNotFound", `no stored account "${name}"`);
}

function exists(name: string, why: string): ChangeFault {
  return refuseChange("AccountAlreadyExists", `account "${name}" exists: ${why}`);
}

/** The served accounts, limited to the methods that changes of stored accounts use. */
interface ChangeableAccounts {
  isConfigured(name: string): boolean;
  apply(change: AccountChange): void;
  /** Rereads the stored accounts, which other processes may have changed. Returns whether any has
   *  changed since the last read. */
  refresh(): Promise<boolean>;
}

interface ListedAccount {
  readonly name: string;
  /** `unserved`: the account was removed from the configuration, its data was kept. */
  readonly source: "configured" | "stored" | "unserved";
  readonly hierarchicalNamespace: boolean;
  /** Undefined for an account that is only configured. */
  readonly createdAt: Ticks | undefined;
}

/** Creates, changes, lists and deletes stored accounts. Configured accounts are only listed. */
export class AccountManager {
  readonly #parts: AccountChangeParts;
  readonly #served: ChangeableAccounts;

  constructor(parts: AccountChangeParts, served: ChangeableAccounts) {
    this.#parts = parts;
    this.#served = served;
  }

  create(account: NewAccount): Promise<Result> {
    return this.#change(account.name, () => createAccount(this.#parts, account));
  }

  /** Deletes an account that is empty, or any account with `force`. Reclaim jobs remove its
   *  data. */
  delete(name: string, { force }: { readonly force: boolean }): Promise<Result> {
    const { store, random, services, hasData } = this.#parts;
    return this.#change(name, () =>
      store.transact(async (tx) => {
        const existing = await readAccount(tx, name);
        if (existing === undefined) return notFound(name);
        if (!force && (await hasData(tx, existing.id))) {
          const advice = "force deletes it as well";
          return refuseChange("AccountNotEmpty", `account "${name}" has data; ${advice}`);
        }
        const state = await stateOf(tx);
        tx.delete(accounts.key(name));
        reclaimAccount(tx, existing.id, services);
        await removeSubscriptions(tx, name);
        await removeAccountAssignments(tx, random, name);
        if (existing.quota !== undefined) await noteQuotaChange(tx);
        const countDelta = existing.stored === undefined ? 0 : -1;
        return putState(tx, { name, stored: undefined, state, countDelta, after: newId(random) });
      }),
    );
  }

  /** Replaces one key. Requests that were authenticated with the old one fail at their commit. */
  rotateKey({ name, number, key = newKey(this.#parts.random) }: KeyRotation): Promise<Result> {
    return this.#changeStored(name, (stored) => {
      const [first, second] = stored.keys;
      if (key === first || key === second) {
        return refuseChange("InvalidInput", `account "${name}": the new key is a present key`);
      }
      const others: AccountKeys = second === undefined ? [key] : [key, second];
      const keys: AccountKeys = number === 2 ? [first, key] : others;
      return findProblem(name, keys, stored.settings) ?? { ...stored, keys };
    });
  }

  /** Changes settings; null returns a setting to its default. */
  changeSettings(name: string, changes: Readonly<Record<string, unknown>>): Promise<Result> {
    return this.#changeStored(name, (stored) => {
      const merged = Object.entries({ ...stored.settings, ...changes });
      const settings: StoredSettings = Object.fromEntries(merged.filter(([, to]) => to !== null));
      return findProblem(name, stored.keys, settings) ?? { ...stored, settings };
    });
  }

  list(): Promise<readonly ListedAccount[]> {
    return this.#parts.store.snapshot(async (view) =>
      [...(await readAccounts(view))].map(([name, { hierarchicalNamespace = false, stored }]) => {
        const other = stored === undefined ? "unserved" : "stored";
        const source = this.#served.isConfigured(name) ? "configured" : other;
        return { name, source, hierarchicalNamespace, createdAt: stored?.createdAt };
      }),
    );
  }

  #changeStored(
    name: string,
    decide: (stored: StoredAccount) => StoredAccount | ChangeFault,
  ): Promise<Result> {
    const parts = this.#parts;
    return this.#change(name, () =>
      parts.store.transact(async (tx) => {
        const existing = await readAccount(tx, name);
        if (existing?.stored === undefined) return notFound(name);
        const decided = decide(existing.stored);
        if ("code" in decided) return decided;
        const record = await withSettings(parts, tx, existing, decided.settings);
        if (record === undefined) {
          return refuseChange("InvalidInput", contradiction(name, existing));
        }
        const stored = { ...decided, revision: newId(parts.random) };
        const state = await stateOf(tx);
        return putChange(tx, { name, record: { ...record, stored }, state, countDelta: 0 });
      }),
    );
  }

  async #change(name: string, change: () => Promise<Result>): Promise<Result> {
    if (this.#served.isConfigured(name)) {
      const message = `account "${name}" is configured: change the configuration of the server`;
      return refuseChange("AccountIsConfigured", message);
    }
    const result = await change();
    if (!result.ok) return result;
    this.#served.apply(result.value);
    await this.#served.refresh();
    return result;
  }
}
