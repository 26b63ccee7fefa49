import { accountUsage, type AccountQuota } from "../operation/quotas.ts";
import { defineTable, internalRecord, recordCodec } from "../encoding/table.ts";
import { decodeCounter, type Store, type Transaction, type View } from "../store/store.ts";
import { putRecord, readRecord } from "../store/typed-records.ts";
import { accounts, readAccount, readAccounts, type AccountRecord } from "./account-record.ts";
import type { IsUsed } from "./account-records.ts";
import type { Accounts, AccountSettings } from "./settings.ts";

/** Quotas (`quotaBytes`) and the change-feed setting of accounts in their records, where the
 *  transactions of all processes see them. `data` calls `ensureSettings` at each start and reload,
 *  and counts the bytes of accounts with a quota (`data/usage-counts.ts`). */

/** One record for all quotas. Its revision is raised with each change of a quota, so that processes
 *  see when to read the quotas again. */
interface QuotaState {
  readonly revision: bigint;
}

export const quotaState = defineTable<"quotas", QuotaState>({
  name: "quota-state",
  tag: 0x08,
  key: (name) => [name],
  codec: recordCodec<QuotaState>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

/** Raises the revision of the quotas after one was set, changed or removed in this transaction, so
 *  that other processes read them again. */
export async function noteQuotaChange(tx: Transaction): Promise<void> {
  const state = await readRecord(tx, quotaState, "quotas");
  putRecord(tx, quotaState, "quotas", { revision: (state?.revision ?? 0n) + 1n });
}

/** Returns the record with the given quota; 0 means none. If the account had no quota before, its
 *  bytes are counted from now on, and a background task counts its earlier bytes. */
export async function withQuota(
  tx: Transaction,
  record: AccountRecord,
  quotaBytes: number,
  hasData: IsUsed,
): Promise<AccountRecord> {
  const { quota, ...others } = record;
  if (quotaBytes === (quota?.quotaBytes ?? 0)) return record;
  await noteQuotaChange(tx);
  if (quota === undefined || quotaBytes === 0) tx.delete(accountUsage.key(record.id));
  if (quotaBytes === 0) return others;
  const isCounted = quota?.isCounted ?? !(await hasData(tx, record.id));
  return { ...others, quota: { quotaBytes, isCounted } };
}

type FeedSettings = Partial<Pick<AccountSettings, "changeFeed" | "changeFeedRetentionDays">>;

/** Returns the record with the setting `changeFeed`, as `events.changeFeedDays`: transactions see
 *  in it whether to log events. */
export function withChangeFeed(
  record: AccountRecord,
  { changeFeed = false, changeFeedRetentionDays = 0 }: FeedSettings,
): AccountRecord {
  const { events, ...others } = record;
  const days = changeFeed ? changeFeedRetentionDays : undefined;
  if (events?.changeFeedDays === days) return record;
  const { changeFeedDays: _before, ...readers } = events ?? {};
  const after = days === undefined ? readers : { ...readers, changeFeedDays: days };
  return Object.keys(after).length === 0 ? others : { ...others, events: after };
}

/** Stores the quotas and change feeds of the settings in the records of the accounts, where
 *  transactions read them. */
export async function ensureSettings(
  store: Store,
  settings: Accounts,
  hasData: IsUsed,
): Promise<void> {
  for (const name of settings.names()) {
    const wanted = settings.get(name) ?? {};
    const { quotaBytes = 0 } = wanted as Partial<AccountSettings>;
    const present = await store.snapshot((view) => readAccount(view, name));
    const hasQuota = (present?.quota?.quotaBytes ?? 0) === quotaBytes;
    if (present === undefined || (hasQuota && withChangeFeed(present, wanted) === present))
      continue;
    await store.transact(async (tx) => {
      const record = await readAccount(tx, name);
      if (record === undefined) return;
      const limited = await withQuota(tx, record, quotaBytes, hasData);
      const changed = withChangeFeed(limited, wanted);
      if (changed !== record) putRecord(tx, accounts, name, changed);
    });
  }
}

/** An account with a quota, whose usage is counted (`data/usage-counts.ts`). */
export interface LimitedAccount {
  readonly name: string;
  readonly id: bigint;
  readonly quota: AccountQuota;
}

/** The accounts with a quota. Undefined if no account has changed since the revision `known`. */
export async function readLimited(
  view: View,
  known: bigint | undefined,
): Promise<{ readonly revision: bigint; readonly limited: readonly LimitedAccount[] } | undefined> {
  const { revision = 0n } = (await readRecord(view, quotaState, "quotas")) ?? {};
  if (revision === known) return undefined;
  const limited: LimitedAccount[] = [];
  if (revision === 0n) return { revision, limited };
  for (const [name, { id, quota }] of await readAccounts(view)) {
    if (quota !== undefined) limited.push({ name, id, quota });
  }
  return { revision, limited };
}

/** The bytes that an account uses of its quota; undefined without a quota, or if its bytes are not
 *  counted yet. */
export async function usedOfQuota(view: View, name: string): Promise<bigint | undefined> {
  const record = await readAccount(view, name);
  if (record?.quota?.isCounted !== true) return undefined;
  return decodeCounter(await view.get(accountUsage.key(record.id)));
}

/** Corrects the counter of an account after its bytes were counted in one state: `counted` bytes,
 *  while the counter had the value `counterThen`. Additions since then stay. */
export async function correctUsage(
  store: Store,
  { name, id }: LimitedAccount,
  { counted, counterThen }: { readonly counted: bigint; readonly counterThen: bigint },
): Promise<void> {
  await store.transact(async (tx) => {
    const record = await readAccount(tx, name);
    if (record?.id !== id || record.quota === undefined) return;
    if (counted !== counterThen) tx.add(accountUsage.key(id), counted - counterThen);
    if (record.quota.isCounted) return;
    const quota = { ...record.quota, isCounted: true };
    putRecord(tx, accounts, name, { ...record, quota });
    await noteQuotaChange(tx);
  });
}
