import type { AccountQuota } from "../operation/quotas.ts";
import type { View } from "../store/store.ts";
import { readRecord, readRecords } from "../store/typed-records.ts";
import type { ServiceName } from "../protocol/names.ts";
import { defineTable, internalRecord, recordCodec, withDecodeCache } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { AccountInput } from "./parse-settings.ts";
import type { ServiceProperties } from "./service-properties.ts";
import type { AccountKeys } from "./settings.ts";

/** The tables of accounts, which all services read: transactions find the id and quota of an
 *  account here. */

/** The record of an account. Other records are keyed by `id`, never by name: a reset assigns a new
 *  id, which makes them unreachable at once, and reclaim jobs remove them later. */
export interface AccountRecord {
  readonly id: bigint;
  readonly properties: Readonly<Partial<Record<ServiceName, ServiceProperties>>>;
  /** Whether blobs are kept in a tree of directories; fixed once the account has a container. */
  readonly hierarchicalNamespace?: true | undefined;
  /** The quota of the account; undefined: none. A copy of the setting, because the transactions of
   *  all processes read this record. */
  readonly quota?: AccountQuota | undefined;
  /** Set while the account writes its changes to the event log; undefined: it does not. */
  readonly events?: AccountEvents | undefined;
  /** Keys and settings of an account that was created by the admin API; undefined for an account
   *  that only the configuration describes. */
  readonly stored?: StoredAccount | undefined;
}

/** The readers of the event log of an account. Events are logged only while there is one. */
interface AccountEvents {
  /** The setting `changeFeed`: for how many days the change feed has the events. */
  readonly changeFeedDays?: number | undefined;
  /** Number of subscriptions; undefined if there are none. */
  readonly subscriptions?: number | undefined;
}

/** Keys and settings in the store. Settings of the configuration for the same name replace them. */
export interface StoredAccount {
  /** A random number that is new after each change, so that a process can see that the settings it
   *  has authenticated a request with are no longer the present ones. */
  readonly revision: bigint;
  readonly createdAt: Ticks;
  readonly keys: AccountKeys;
  readonly settings: StoredSettings;
}

/** The settings of a stored account that differ from `accountDefaults`; its keys are stored beside
 *  them. */
export type StoredSettings = Omit<AccountInput, "keys">;

export const accounts = defineTable<string, AccountRecord>({
  name: "accounts",
  tag: 0x01,
  key: (name) => [name],
  codec: withDecodeCache(recordCodec<AccountRecord>({ version: 1 })),
  owner: "store",
  lifetime: "durable",
  role: "record",
  // `etagere export` writes accounts in a form of their own (docs/ARCHIVE.md), not as records.
  isArchived: false,
  defines: { id: "account" },
});

/** The record of the account with this name; undefined if the store has none. */
export function readAccount(
  view: Pick<View, "get">,
  name: string,
): Promise<AccountRecord | undefined> {
  return readRecord(view, accounts, name);
}

export async function readAccounts(
  view: Pick<View, "range">,
): Promise<ReadonlyMap<string, AccountRecord>> {
  const found = await readRecords(view, accounts);
  return new Map(found.map(({ parts, record }) => [String(parts[0]), record]));
}

/** One record for all stored accounts and one for all stored identities. A process that finds
 *  another `revision` than it knows reads them again. */
interface AccountsState {
  readonly revision: bigint;
  /** Number of stored accounts, which is limited (`storedAccountsMax`); always 0 for identities. */
  readonly count: number;
}

export const accountsState = defineTable<"accounts" | "identity", AccountsState>({
  name: "accounts-state",
  tag: 0x06,
  key: (name) => [name],
  codec: recordCodec<AccountsState>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

/** The scope (parent records) of operations on a service; the scopes of all other operations begin
 *  with it. */
export interface AccountScope {
  readonly account: AccountRecord;
}
