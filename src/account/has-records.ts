import type { DefinedTable } from "../encoding/table.ts";
import type { Transaction } from "../store/store.ts";

/** Whether a table has a record whose key begins with the id of an account. */
export async function hasRecords<K, R>(
  tx: Transaction,
  table: DefinedTable<K, R>,
  account: bigint,
): Promise<boolean> {
  for await (const entries of tx.range({ ...table.range([account]), limit: 1 })) {
    if (entries.length > 0) return true;
  }
  return false;
}
