import { accounts } from "./account-record.ts";
import type { AccountRecord } from "./account-record.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { Random } from "../base/world.ts";
import { newId } from "../operation/identifiers.ts";
import { enqueueJob } from "../operation/reclaim-jobs.ts";
import type { Store } from "../store/store.ts";

/** Every account that is configured has a record; one that no longer is keeps its data. */
export async function ensureAccountRecords(
  store: Store,
  names: readonly string[],
  random: Random,
): Promise<void> {
  await store.transact(async (tx) => {
    for (const name of names) {
      const key = accounts.key(name);
      if ((await tx.get(key)) === undefined) tx.put(key, newAccountValue(random));
    }
  });
}

/**
 * Everything in the store hangs on the ids of accounts. New ids, and all of it is gone for everyone
 * in one commit; the space comes back later, job by job.
 */
export async function resetAccounts(
  store: Store,
  services: readonly ServiceName[],
  random: Random,
): Promise<void> {
  await store.transact(async (tx) => {
    for await (const entries of tx.range(accounts.range([]))) {
      for (const { key, value } of entries) {
        const { id } = accounts.codec.decode(value);
        tx.put(key, newAccountValue(random));
        for (const service of services) {
          enqueueJob(tx, { kind: `${service}-account`, scope: [id] }, tx.now);
        }
      }
    }
  });
}

function newAccountValue(random: Random): Uint8Array {
  const record: AccountRecord = { id: newId(random), properties: {} };
  return accounts.codec.encode(record);
}
