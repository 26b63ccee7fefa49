import { quotaState } from "../account/account-quota.ts";
import { accounts, accountsState } from "../account/account-record.ts";
import { deletedNames } from "../account/deleted-names.ts";
import { heldLeases } from "../account/held-leases.ts";
import { identityTables } from "../account/identity-manager.ts";
import { subscriptionTables } from "../account/subscription.ts";
import { blobService } from "../blob/service.ts";
import { contentRestore } from "../content/restore-rules.ts";
import { anyTable, type AnyTable, type Counter } from "../encoding/table.ts";
import { extentsTag } from "../content/tables.ts";
import { eventLog } from "../account/event-log.ts";
import { fileService } from "../file/service.ts";
import { hasArchivedRecords, reclaimersOf } from "../operation/owned-records.ts";
import { reclaimJobs } from "../operation/reclaim-jobs.ts";
import type { ReclaimHandler, Service } from "../operation/service.ts";
import { transferJobs } from "../operation/transfer.ts";
import { accountUsage } from "../operation/quotas.ts";
import { queueService } from "../queue/service.ts";
import { keyringTag, type RecordRules } from "../store/encryption/record-cipher.ts";
import type { RestoreRules } from "../store/saved-states/saved-states.ts";
import type { Transaction } from "../store/store.ts";
import { tableService } from "../table/service.ts";

/** The list of all services and, from the tables of records that they declare, what deletion,
 *  export, encryption and restore must know. */

/** All services. Each has a listener, a start-up line and an entry in the URLs. */
export const services: readonly Service[] = [blobService, queueService, tableService, fileService];

/** Tables that belong to the server or to accounts, not to a service. */
const commonTables: readonly AnyTable[] = [
  anyTable(accounts),
  anyTable(accountsState),
  ...identityTables,
  anyTable(quotaState),
  anyTable(deletedNames),
  anyTable(heldLeases),
  anyTable(reclaimJobs),
  anyTable(transferJobs),
  ...subscriptionTables,
];

/** All tables of records of this program. */
export const recordTables: readonly AnyTable[] = [
  ...services.flatMap(({ tables }) => tables),
  ...commonTables,
];

const counters = recordTables.flatMap((table) => table.counters ?? []);

/** All counters, which are stored as numbers and not as records. */
export const recordCounters: readonly Counter[] = [
  ...counters.map(({ counter }) => counter),
  accountUsage,
];

/** Which records are encrypted, and how. Counters are plain, because a database adds to them, and
 *  the list of extents is, because a backup reads it without the key. */
export const recordRules: RecordRules = {
  plain: new Set([extentsTag, ...recordCounters.map(({ tag }) => tag)]),
  logs: new Set([eventLog.tag]),
};

/** Tables whose records refer to stored content. */
export const contentTables = recordTables.filter(({ content }) => content !== undefined);

/** The handlers of reclaim jobs of all services, by kind of job. */
export const reclaimers: ReadonlyMap<string, ReclaimHandler> = new Map([
  ...Object.entries(reclaimersOf(commonTables)),
  ...services.flatMap(({ name, tables, reclaimers: own = {} }) =>
    Object.entries({ ...reclaimersOf(tables, name), ...own }),
  ),
]);

/** Whether an account has any data, also soft-deleted: such an account must not be deleted. */
export function hasData(tx: Transaction, account: bigint): Promise<boolean> {
  return hasArchivedRecords(tx, recordTables, account);
}

/** How saved states are restored. Opens and byte-range locks belong to SMB connections, which may
 *  have ended since: a restore closes all of them, as Force Close Handles does. */
export const restoreRules: RestoreRules = {
  ...contentRestore,
  excluded: new Set([
    ...contentRestore.excluded,
    keyringTag,
    ...recordTables.filter(({ lifetime }) => lifetime !== "durable").map(({ tag }) => tag),
  ]),
  cleared: recordTables
    .filter(({ lifetime }) => lifetime === "session")
    .map(({ prefix }) => prefix([])),
};
