import type { DeletedName } from "../account/deleted-names.ts";
import type { EntityKeys } from "../protocol/principal.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import { recordCodec, withDecodeCache } from "../encoding/record.ts";
import { encodeKeyBelow, encodeTaggedKey } from "../encoding/keys.ts";
import { anyTable, archivedRecord, defineTable, type AnyTable } from "../encoding/table.ts";
import { encodeKeyText } from "./key-text.ts";
import { entityCodec, type EntityRecord } from "./stored/entity-record.ts";

export interface TableRecord {
  /** Part of the keys of its entities, so that deleting a table changes only this record. */
  readonly id: bigint;
  /** As written when it was created; names are case-insensitive. */
  readonly name: string;
  readonly policies: readonly StoredPolicy[];
  /** Set by earlier releases on a deleted table with entities left. Treated as absent. */
  readonly isBeingDeleted?: true | undefined;
}

/** Key of a table's name among the reserved names of deleted tables. Table names are
 *  case-insensitive. */
export function nameKeyOf(account: bigint, name: string): DeletedName {
  return { account, service: "table", name: name.toLowerCase() };
}

export interface EntityKey extends EntityKeys {
  readonly table: bigint;
}

export const tables = defineTable<{ account: bigint; name: string }, TableRecord>({
  name: "tables",
  tag: 0x30,
  key: ({ account, name }) => [account, name.toLowerCase()],
  codec: withDecodeCache(recordCodec<TableRecord>({ version: 1 })),
  owner: "account",
  ...archivedRecord,
  defines: { id: "table" },
});

const entityTag = 0x31;
const noBytes: Uint8Array = new Uint8Array();

const definition = defineTable<EntityKey, EntityRecord>({
  name: "entities",
  tag: entityTag,
  key: ({ table, partitionKey, rowKey }) => [
    table,
    encodeKeyText(partitionKey),
    encodeKeyText(rowKey),
  ],
  codec: entityCodec,
  owner: "table",
  ...archivedRecord,
  countedBytes: ({ bytes }) => bytes.length,
});

export const entities: typeof definition = { ...definition, key: entityKey };

/** All tables of the Table service. */
export const tableTables: readonly AnyTable[] = [anyTable(tables), anyTable(entities)];

/** Encodes a key, reusing the last one. Entities of a transaction are in one partition, and each is
 *  read before it is written, so most keys share the prefix of the last key or are equal to it.
 *  Saves 5 % of the CPU time of a transaction of 100. */
function entityKey({ table, partitionKey, rowKey }: EntityKey): Uint8Array {
  const isSamePartition = table === lastKey.table && partitionKey === lastKey.partitionKey;
  if (isSamePartition && rowKey === lastKey.rowKey) return lastKey.key;
  if (!isSamePartition) {
    lastKey.prefix = encodeTaggedKey(entityTag, [table, encodeKeyText(partitionKey)]);
    lastKey.table = table;
    lastKey.partitionKey = partitionKey;
    lastKey.rowKey = undefined;
  }
  lastKey.key = encodeKeyBelow(lastKey.prefix, encodeKeyText(rowKey));
  lastKey.rowKey = rowKey;
  return lastKey.key;
}

interface EncodedKey {
  table: bigint;
  partitionKey: string;
  /** Prefix of all keys of the partition. */
  prefix: Uint8Array;
  /** Undefined after a change of the partition, until `key` is encoded. */
  rowKey: string | undefined;
  key: Uint8Array;
}

const lastKey: EncodedKey = {
  table: -1n,
  partitionKey: "",
  prefix: noBytes,
  rowKey: undefined,
  key: noBytes,
};
