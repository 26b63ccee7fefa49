import { blockCounter } from "../../blob/block/read-blocks.ts";
import { blocks, uploads, type UploadRecord } from "../../blob/records.ts";
import type { ContentRef } from "../../content/content-ref.ts";
import { decodeKey } from "../../encoding/key-decoding.ts";
import { encodeTaggedKey, type KeyPart } from "../../encoding/keys.ts";
import { RecordTooNew } from "../../encoding/record.ts";
import type { AnyTable } from "../../encoding/table.ts";
import { nodes, usageCounter, type NodeRecord } from "../../file/records.ts";
import { add, type Effect } from "../../operation/effects.ts";
import { messageCounter, messages } from "../../queue/records.ts";
import type { Key, Value } from "../../store/store.ts";
import { ArchiveRefused } from "./archive-refused.ts";
import { archivedTable, type ArchivedTable } from "./archived-tables.ts";
import { writtenByNewer } from "./frame-reader.ts";
import { periodJobOf } from "./period-jobs.ts";

/** A record of an archive with its new ids. */
export interface LoadedRecord {
  /** Takes encoded keys. */
  readonly table: AnyTable;
  readonly key: Key;
  readonly record: object;
  /** Counters and the reclaim job that belong to the record. */
  readonly effects: readonly Effect[];
}

type MapId = (id: bigint) => bigint;

interface ArchivedEntry {
  readonly table: string;
  readonly key: Key;
  readonly value: Value;
}

/** Decodes a record of an archive and replaces its ids. Throws `ArchiveRefused` if it is not valid:
 *  checksums protect from damage, but not from an archive that another program has made. */
export function loadedRecord(entry: ArchivedEntry, mapId: MapId): LoadedRecord {
  try {
    const archived = tableOf(entry.table);
    const { key, parts } = mapKey(archived, entry.key, mapId);
    const record = mapRecord(archived, entry.value, mapId);
    const table = keyed(archived.table);
    return { table, key, record, effects: effectsOf(archived.table.name, parts, record) };
  } catch (error) {
    if (error instanceof ArchiveRefused) throw error;
    if (error instanceof RecordTooNew) throw writtenByNewer(error);
    throw new ArchiveRefused([`the archive has an invalid record (${entry.table})`], error);
  }
}

/** A table whose records are put under keys that are encoded already. */
function keyed(table: AnyTable): AnyTable {
  return { ...table, key: (key) => key as Key };
}

export function tableOf(name: string): ArchivedTable {
  const archived = archivedTable(name);
  if (archived !== undefined) return archived;
  throw new ArchiveRefused([`the archive has records of a kind that is unknown here: ${name}`]);
}

/** The new key of a record, and its parts. */
export function mapKey({ table }: ArchivedTable, key: Key, mapId: MapId) {
  const [owner, ...rest] = decodeKey(key, 1);
  if (key[0] !== table.tag || typeof owner !== "bigint") throw new Error("not a key of its table");
  const parts: readonly KeyPart[] = [mapId(owner), ...rest];
  return { key: encodeTaggedKey(table.tag, parts), parts };
}

function mapRecord({ table, ids }: ArchivedTable, value: Value, mapId: MapId): object {
  const record = table.codec.decode(value);
  if (typeof record !== "object" || record === null) throw new Error("not a record");
  refuseForeignContent(table, record);
  if (ids.length === 0) return record;
  const fields = record as Readonly<Record<string, unknown>>;
  if (ids.includes("id") && typeof fields["id"] !== "bigint") throw new Error("has no id");
  const mapped = ids.flatMap((field) => {
    const id = fields[field];
    return typeof id === "bigint" ? [[field, mapId(id)] as const] : [];
  });
  return { ...record, ...Object.fromEntries(mapped) };
}

/** A record may contain its bytes, but must not refer to any: these would be bytes of the target,
 *  which belong to other records. */
function refuseForeignContent(table: AnyTable, record: object): void {
  const ref = (record as Record<string, ContentRef | undefined>)[table.content ?? ""];
  const isContained = ref === undefined || (ref.kind === "inline" && isOf(ref.bytes, ref.length));
  const appended = table.name === uploads.name ? ((record as UploadRecord).inline ?? []) : [];
  const isAllContained = appended.every(({ source }) => source.bytes instanceof Uint8Array);
  if (!isContained || !isAllContained) throw new Error("a record refers to bytes elsewhere");
}

function isOf(bytes: unknown, length: number): boolean {
  return bytes instanceof Uint8Array && bytes.length === length;
}

function effectsOf(table: string, parts: readonly KeyPart[], record: object): readonly Effect[] {
  const job = periodJobOf(table, parts, record);
  const effects: Effect[] = job === undefined ? [] : [{ effect: "reclaim", job }];
  const [owner] = parts as [bigint];
  if (table === messages.name) effects.push(add(messageCounter(owner), 1n));
  if (table === blocks.name) effects.push(add(blockCounter(owner), 1n));
  if (table === nodes.name) {
    const { allocated = 0 } = record as NodeRecord;
    if (allocated > 0) effects.push(add(usageCounter(owner), BigInt(allocated)));
  }
  return effects;
}
