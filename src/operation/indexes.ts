import { decodeKey } from "../encoding/key-decoding.ts";
import type { AnyTable, IndexEntry } from "../encoding/table.ts";
import type { Transaction } from "../store/store.ts";

/** A change of a record; `before` is undefined for a new record, `after` for a deleted one. */
export interface Change {
  readonly key: Uint8Array;
  readonly before: object | undefined;
  readonly after: object | undefined;
}

const tagBytes = 1;
const none: readonly IndexEntry[] = [];

/** Writes and deletes the index entries of a record in the transaction that changes the record.
 *  Entries that stay the same are not written. */
export function updateIndexes(
  tx: Transaction,
  { indexes }: AnyTable,
  { key, before, after }: Change,
): void {
  if (indexes === undefined) return;
  const parts = () => decodeKey(key, tagBytes);
  const old = before === undefined ? none : indexes(before, parts);
  const next = after === undefined ? none : indexes(after, parts);
  if (old.length === 0 && next.length === 0) return;
  const wanted = new Map(next.map((entry) => [hexOf(entry.key), entry]));
  for (const entry of old) {
    const same = wanted.get(hexOf(entry.key));
    if (same === undefined) tx.delete(entry.key);
    else if (Buffer.compare(same.value, entry.value) === 0) wanted.delete(hexOf(entry.key));
  }
  for (const entry of wanted.values()) tx.put(entry.key, entry.value);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}
