import type { AccountChangeParts } from "../account/account-changes.ts";
import { hasRecords } from "../account/has-records.ts";
import type { Random } from "../base/world.ts";
import { hasContainers } from "../blob/has-containers.ts";
import { deletedShares, shares } from "../file/records.ts";
import { queues } from "../queue/records.ts";
import type { Store, Transaction } from "../store/store.ts";
import { tables } from "../table/records.ts";
import { services } from "./services.ts";

/** What changes of stored accounts need to know of the services. */
export function accountChangeParts(store: Store, random: Random): AccountChangeParts {
  const names = services.map(({ name }) => name);
  return { store, random, services: names, hasContainers, hasData };
}

/** Whether an account has a container, queue, table or share, or one that can be restored. */
export async function hasData(tx: Transaction, account: bigint): Promise<boolean> {
  return (
    (await hasContainers(tx, account)) ||
    (await hasRecords(tx, queues, account)) ||
    (await hasRecords(tx, tables, account)) ||
    (await hasRecords(tx, shares, account)) ||
    hasRecords(tx, deletedShares, account)
  );
}
