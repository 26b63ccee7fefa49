import type { KeyPart } from "../encoding/keys.ts";
import type { Table } from "../encoding/table.ts";
import type { Transaction, View } from "./store.ts";

/** Decoded records of tables, for code that works on a view or transaction directly: accounts,
 *  identities, subscriptions and background tasks. Operations read with `operation/records.ts`
 *  instead, which also caches decoded records and yields to the event loop. */

/** Reads and decodes the record with this key; undefined if there is none. */
export async function readRecord<K, R>(
  view: Pick<View, "get">,
  table: Table<K, R>,
  key: K,
): Promise<R | undefined> {
  const value = await view.get(table.key(key));
  return value && table.codec.decode(value);
}

export function putRecord<K, R>(
  tx: Pick<Transaction, "put">,
  table: Table<K, R>,
  key: K,
  record: R,
): void {
  tx.put(table.key(key), table.codec.encode(record));
}

interface StoredRecord<R> {
  readonly key: Uint8Array;
  readonly parts: readonly KeyPart[];
  readonly record: R;
}

/** Reads all records whose keys begin with `parts`, in the order of their keys. Only for tables
 *  whose records fit into memory, because it returns them all at once. */
export async function readRecords<K, R>(
  view: Pick<View, "range">,
  table: Table<K, R>,
  parts: readonly KeyPart[] = [],
): Promise<readonly StoredRecord<R>[]> {
  const found: StoredRecord<R>[] = [];
  for await (const entries of view.range(table.range(parts))) {
    for (const { key, value } of entries) {
      found.push({ key, parts: table.parts(key), record: table.codec.decode(value) });
    }
  }
  return found;
}
