import type { DeletedName } from "../account/deleted-names.ts";
import type { EntityKeys } from "../protocol/entity-range.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import { recordCodec, withDecodeCache } from "../encoding/record.ts";
import { encodeKeyBelow, encodeTaggedKey } from "../encoding/keys.ts";
import { defineTable } from "../encoding/table.ts";
import { encodeKeyText } from "./key-text.ts";
import { entityCodec, type EntityRecord } from "./stored/entity-record.ts";

export interface TableRecord {
  /** What the entities are keyed by: deleting a table touches only this record. */
  readonly id: bigint;
  /** In the spelling it was created with; names compare without regard to case. */
  readonly name: string;
  readonly policies: readonly StoredPolicy[];
  /** Of a table that an earlier release deleted and whose entities are still there: no table. */
  readonly isBeingDeleted?: true | undefined;
}

/** Names compare without regard to case. */
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
});

export const entities: typeof definition = { ...definition, key: entityKey };

/** The entities of a transaction lie in one partition, and each is looked up before it is
 *  written: most keys begin as the last one did, or are the same. */
function entityKey({ table, partitionKey, rowKey }: EntityKey): Uint8Array {
  const isSamePartition = table === last.table && partitionKey === last.partitionKey;
  if (isSamePartition && rowKey === last.rowKey) return last.key;
  if (!isSamePartition) {
    last.prefix = encodeTaggedKey(entityTag, [table, encodeKeyText(partitionKey)]);
    last.table = table;
    last.partitionKey = partitionKey;
    last.rowKey = undefined;
  }
  last.key = encodeKeyBelow(last.prefix, encodeKeyText(rowKey));
  last.rowKey = rowKey;
  return last.key;
}

interface LastKey {
  table: bigint;
  partitionKey: string;
  /** What all keys of the partition begin with. */
  prefix: Uint8Array;
  /** Undefined while there is no key for it. */
  rowKey: string | undefined;
  key: Uint8Array;
}

const last: LastKey = {
  table: -1n,
  partitionKey: "",
  prefix: noBytes,
  rowKey: undefined,
  key: noBytes,
};
