import type { DefinedTable } from "../encoding/table.ts";
import type { Transaction } from "../store/store.ts";
import { containers, deletedContainers } from "./records.ts";

/** Whether an account has a container, or a soft-deleted container that can be restored. */
export async function hasContainers(tx: Transaction, account: bigint): Promise<boolean> {
  return (await hasAny(tx, containers, account)) || hasAny(tx, deletedContainers, account);
}

async function hasAny<K, R>(
  tx: Transaction,
  table: DefinedTable<K, R>,
  account: bigint,
): Promise<boolean> {
  for await (const entries of tx.range({ ...table.range([account]), limit: 1 })) {
    if (entries.length > 0) return true;
  }
  return false;
}
