import type { EntityKeys } from "../core/entity-range.ts";
import type { StoredPolicy } from "../core/permission.ts";
import { recordCodec, remembering } from "../core/record.ts";
import { encodeKeyBelow, encodeTaggedKey } from "../core/keys.ts";
import { defineTable } from "../core/table.ts";
import { encodeKeyText } from "./key-text.ts";
import { entityCodec, type EntityRecord } from "./stored/entity-record.ts";

export interface TableRecord {
  /** What the entities are keyed by: deleting a table touches only this record. */
  readonly id: bigint;
  /** In the spelling it was created with; names compare without regard to case. */
  readonly name: string;
  readonly policies: readonly StoredPolicy[];
  /** Its entities are still being taken down; the name is not free until they are. */
  readonly isBeingDeleted?: true | undefined;
}

export interface EntityKey extends EntityKeys {
  readonly table: bigint;
}

export const tables = defineTable<{ account: bigint; name: string }, TableRecord>({
  name: "tables",
  tag: 0x30,
  key: ({ account, name }) => [account, name.toLowerCase()],
  codec: remembering(recordCodec<TableRecord>({ version: 1 })),
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
  const prefix = isSamePartition
    ? last.prefix
    : encodeTaggedKey(entityTag, [table, encodeKeyText(partitionKey)]);
  const key = encodeKeyBelow(prefix, encodeKeyText(rowKey));
  last = { table, partitionKey, prefix, rowKey, key };
  return key;
}

let last = { table: -1n, partitionKey: "", prefix: noBytes, rowKey: "", key: noBytes };
