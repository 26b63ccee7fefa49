import { decodeKey, encodeTaggedKey, type KeyPart } from "../../encoding/keys.ts";
import { RecordTooNew } from "../../encoding/record.ts";
import { withEncodedKeys, type AnyTable } from "../../encoding/table.ts";
import { add, periodJobOf, type Effect } from "../../operation/effects.ts";
import type { Key, Value } from "../../store/store.ts";
import { recordTables } from "../../data/services.ts";
import { ArchiveRefused } from "../../host/refused.ts";
import { writtenByNewer } from "./frame-reader.ts";
import { refuseInvalidRecord } from "./record-fields.ts";

/** A record of an archive with its new ids. */
export interface LoadedRecord {
  /** Accepts encoded keys (`withEncodedKeys`). */
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
    const table = tableOf(entry.table);
    const { key, parts } = mapKey(table, entry.key, mapId);
    const record = mapRecord(table, parts.slice(1), entry.value, mapId);
    const effects = effectsOf(table, parts, record);
    return { table: withEncodedKeys(table), key, record, effects };
  } catch (error) {
    if (error instanceof ArchiveRefused) throw error;
    if (error instanceof RecordTooNew) throw writtenByNewer(error);
    throw new ArchiveRefused([`the archive has an invalid record (${entry.table})`], error);
  }
}

export function tableOf(name: string): AnyTable {
  const archived = recordTables.find((table) => table.isArchived && table.name === name);
  if (archived !== undefined) return archived;
  throw new ArchiveRefused([`the archive has records of a kind that is unknown here: ${name}`]);
}

/** The new key of a record, and its parts. */
export function mapKey(table: AnyTable, key: Key, mapId: MapId) {
  const [owner, ...rest] = decodeKey(key, 1);
  if (key[0] !== table.tag || typeof owner !== "bigint") throw new Error("not a key of its table");
  const parts: readonly KeyPart[] = [mapId(owner), ...rest];
  return { key: encodeTaggedKey(table.tag, parts), parts };
}

function mapRecord(table: AnyTable, parts: readonly KeyPart[], value: Value, mapId: MapId): object {
  const record = table.codec.decode(value);
  refuseInvalidRecord(table, parts, record);
  const ids = idFieldsOf(table);
  if (ids.length === 0) return record;
  const fields = record as Readonly<Record<string, unknown>>;
  const mapped = ids.flatMap((field) => {
    const id = fields[field];
    return typeof id === "bigint" ? [[field, mapId(id)] as const] : [];
  });
  return { ...record, ...Object.fromEntries(mapped) };
}

/** The fields with the id of an owner, which a load replaces. */
export function idFieldsOf({ defines, repeatsOwner }: AnyTable): readonly string[] {
  const fields = defines.map(({ field }) => field);
  return repeatsOwner === undefined ? fields : [...fields, repeatsOwner];
}

function effectsOf(table: AnyTable, parts: readonly KeyPart[], record: object): readonly Effect[] {
  const job = periodJobOf(table, parts, record);
  const [owner] = parts as [bigint];
  const counts = (table.counters ?? []).flatMap(({ counter, of }) => {
    const share = of(record);
    return share === 0n ? [] : [add(counter.key(owner), share)];
  });
  return job === undefined ? counts : [{ effect: "reclaim", job }, ...counts];
}
