import type { EntityKeys } from "../../core/entity-range.ts";
import type { RecordView } from "../../core/view.ts";
import { edm, type Typed } from "../edm/edm.ts";
import { matches, type PropertyReader } from "../filter/evaluate.ts";
import { keyBoxes } from "../filter/key-boxes.ts";
import type { Filter } from "../filter/tree.ts";
import type { Row } from "../json/write-entity.ts";
import { entities } from "../records.ts";
import { EntityRecord } from "../stored/entity-record.ts";
import { KeyReader } from "./key-reader.ts";
import { keyRanges, type Reach } from "./key-ranges.ts";

export interface Selection extends Omit<Reach, "boxes"> {
  readonly filter: Filter | undefined;
  readonly limit: number;
}

export interface Page {
  readonly rows: readonly Row[];
  /** Where the next page starts; undefined at the end. */
  readonly next: EntityKeys | undefined;
}

/** A page looks at no more entities than this, whatever it finds: the rest is for the next one. */
export const scannedRowsMax = 20_000;

/** One page in the order of the keys, of one state. The cost is that of the stretches of keys the
 *  filter leaves open, never that of the table. */
export async function scanEntities(view: RecordView, selection: Selection): Promise<Page> {
  const { filter, limit } = selection;
  const rows: Row[] = [];
  const cursor = new RowCursor(selection.table);
  let scanned = 0;
  for (const range of keyRanges({ ...selection, boxes: keyBoxes(filter) })) {
    const most = filter === undefined ? limit - rows.length + 1 : scannedRowsMax - scanned + 1;
    for await (const batch of view.scan(entities, { ...range, limit: most })) {
      for (const { key, record } of batch) {
        const row = cursor.moveTo(key, record);
        if (scanned >= scannedRowsMax) return { rows, next: row };
        scanned += 1;
        if (filter !== undefined && !matches(filter, cursor.read)) continue;
        if (rows.length >= limit) return { rows, next: row };
        rows.push(row);
      }
    }
  }
  return { rows, next: undefined };
}

/** The row under inspection. A page has thousands, so nothing is made anew for each but the row. */
class RowCursor {
  readonly #keys: KeyReader;
  #row: Row = { partitionKey: "", rowKey: "", record: nothing };

  constructor(table: bigint) {
    this.#keys = new KeyReader(table);
  }

  moveTo(key: Uint8Array, record: EntityRecord): Row {
    const { partitionKey, rowKey } = this.#keys.read(key);
    this.#row = { partitionKey, rowKey, record };
    return this.#row;
  }

  readonly read: PropertyReader = (name) => propertyOf(this.#row, name);
}

const nothing = new EntityRecord(new Uint8Array());

/** No property has the name of a key or of the Timestamp. */
export function propertyOf(row: Row, name: string): Typed | undefined {
  switch (name) {
    case "PartitionKey":
      return { type: edm.string, value: row.partitionKey };
    case "RowKey":
      return { type: edm.string, value: row.rowKey };
    case "Timestamp":
      return { type: edm.dateTime, value: row.record.etag };
    default:
      return row.record.find(name);
  }
}
