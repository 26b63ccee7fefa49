import type { EntityKeys } from "../core/entity-range.ts";
import type { StoredPolicy } from "../core/permission.ts";
import { recordCodec, remembering } from "../core/record.ts";
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

export const entities = defineTable<EntityKey, EntityRecord>({
  name: "entities",
  tag: 0x31,
  key: ({ table, partitionKey, rowKey }) => [
    table,
    encodeKeyText(partitionKey),
    encodeKeyText(rowKey),
  ],
  codec: entityCodec,
});
