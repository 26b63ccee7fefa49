import { accounts, readAccount, readAccounts, type AccountRecord } from "./account-record.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { Random } from "../base/world.ts";
import { newId } from "../operation/identifiers.ts";
import { accountUsage } from "../operation/quotas.ts";
import { noteQuotaChange } from "./account-quota.ts";
import { enqueueJob } from "../operation/reclaim-jobs.ts";
import type { Store, Transaction } from "../store/store.ts";
import { putRecord } from "../store/typed-records.ts";
import type { Table } from "../encoding/table.ts";

/** Creation, reset and removal of the records of accounts. A server calls `ensureAccountRecords` at
 *  its start, and `resetAccounts` when a test empties it. */

/** What `ensureAccountRecords` needs of a configured account. */
interface ConfiguredAccount {
  readonly name: string;
  readonly hierarchicalNamespace: boolean;
}

/** Whether records that depend on the namespace of an account, flat or hierarchical, are stored
 *  under its id. */
export type IsUsed = (tx: Transaction, account: bigint) => Promise<boolean>;

/** Creates records for configured accounts that have none. An account that is no longer configured
 *  keeps its data. If the configured namespace differs from the stored one, the record is changed,
 *  but only if `isUsed` returns false. Otherwise the returned list describes the problem, and
 *  nothing is written for any account. */
export async function ensureAccountRecords(
  store: Store,
  configured: readonly ConfiguredAccount[],
  random: Random,
  isUsed: IsUsed = () => Promise.resolve(true),
): Promise<readonly string[]> {
  return store.transact(async (tx) => {
    const problems: string[] = [];
    const records = new Map<string, AccountRecord>();
    for (const { name, hierarchicalNamespace } of configured) {
      const stored = await readAccount(tx, name);
      const namespace = hierarchicalNamespace ? hierarchical : {};
      if (stored === undefined) records.set(name, { ...newAccount(random), ...namespace });
      else if ((stored.hierarchicalNamespace === true) !== hierarchicalNamespace) {
        if (await isUsed(tx, stored.id)) problems.push(contradiction(name, stored));
        else records.set(name, { ...flat(stored), ...namespace });
      }
    }
    if (problems.length > 0) return problems;
    for (const [name, record] of records) putRecord(tx, accounts, name, record);
    return problems;
  });
}

export const hierarchical = { hierarchicalNamespace: true } as const;

function flat({ hierarchicalNamespace: _previous, ...record }: AccountRecord): AccountRecord {
  return record;
}

/** The problem of an account whose data has another namespace than its configuration. */
export function contradiction(name: string, { hierarchicalNamespace }: AccountRecord): string {
  const [stored, other] =
    hierarchicalNamespace === true ? ["hierarchical", "flat"] : ["flat", "hierarchical"];
  return (
    `account "${name}": its containers have a ${stored} namespace, which cannot become ${other}: ` +
    'change "hierarchicalNamespace" (for the development account --enableHierarchicalNamespace), ' +
    "or use another data folder"
  );
}

/** Assigns new ids to all accounts. This makes all their data unreachable in one commit; reclaim
 *  jobs free its space later. */
export async function resetAccounts(
  store: Store,
  services: readonly ServiceName[],
  random: Random,
): Promise<void> {
  await store.transact(async (tx) => {
    let hasQuota = false;
    for (const [name, record] of await readAccounts(tx)) {
      const { id, hierarchicalNamespace, stored, quota, events } = record;
      const namespace = hierarchicalNamespace === true ? hierarchical : {};
      const limit = quota === undefined ? {} : { quota: { ...quota, isCounted: true } };
      const emptied = { ...newAccount(random), ...namespace, ...limit, events, stored };
      putRecord(tx, accounts, name, emptied);
      reclaimAccount(tx, id, services);
      hasQuota ||= quota !== undefined;
    }
    if (hasQuota) await noteQuotaChange(tx);
  });
}

/** Stores the jobs that remove all data of an account id, which no record refers to any more. */
export function reclaimAccount(
  tx: Transaction,
  id: bigint,
  services: readonly ServiceName[],
): void {
  tx.delete(accountUsage.key(id));
  for (const service of services) {
    enqueueJob(tx, { kind: `${service}-account`, scope: [id] }, tx.now);
  }
}

export function newAccount(random: Random): AccountRecord {
  return { id: newId(random), properties: {} };
}

/** Whether a table has a record of an account. Decides whether the account may be deleted or change
 *  its namespace. */
export async function hasRecords<K, R>(
  tx: Transaction,
  table: Table<K, R>,
  account: bigint,
): Promise<boolean> {
  for await (const entries of tx.range({ ...table.range([account]), limit: 1 })) {
    if (entries.length > 0) return true;
  }
  return false;
}
