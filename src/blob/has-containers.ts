import { hasRecords } from "../account/account-records.ts";
import type { Transaction } from "../store/store.ts";
import { containers, deletedContainers } from "./records.ts";

/** Whether an account has a container, or a soft-deleted container that can be restored. */
export async function hasContainers(tx: Transaction, account: bigint): Promise<boolean> {
  return (await hasRecords(tx, containers, account)) || hasRecords(tx, deletedContainers, account);
}
