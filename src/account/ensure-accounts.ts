import { enqueueJob } from "../execution/reclaim-jobs.ts";
import { newId } from "../execution/identifiers.ts";
import type { ServiceName } from "../core/operation.ts";
import type { Random } from "../core/world.ts";
import type { Store } from "../store/store.ts";
import { accounts, type AccountRecord } from "./account-record.ts";

export interface EnsureOptions {
  readonly store: Store;
  readonly random: Random;
  readonly names: readonly string[];
}

/** Gives every configured account its record, before it is first used. */
export function ensureAccounts({ store, random, names }: EnsureOptions): Promise<void> {
  return store.transact(async (tx) => {
    for (const name of names) {
      const key = accounts.key(name);
      if ((await tx.get(key)) === undefined) tx.put(key, newRecord(random));
    }
  });
}

/** Empties all accounts in one small transaction, whatever they hold: what was keyed by their old
 *  ids is out of reach at once and reclaimed later. */
export function resetAccounts(
  { store, random, names }: EnsureOptions,
  services: readonly ServiceName[],
): Promise<void> {
  return store.transact(async (tx) => {
    for (const name of names) {
      const key = accounts.key(name);
      const value = await tx.get(key);
      tx.put(key, newRecord(random));
      if (value === undefined) continue;
      const { id } = accounts.codec.decode(value);
      for (const service of services) {
        enqueueJob(tx, { kind: `${service}-account`, scope: [id] }, tx.now);
      }
    }
  });
}

function newRecord(random: Random): Uint8Array {
  const record: AccountRecord = { id: newId(random), properties: {} };
  return accounts.codec.encode(record);
}
