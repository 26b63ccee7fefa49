import type { EntityKeys } from "../../protocol/entity-range.ts";
import { spend } from "../../base/loop-share.ts";
import type { RecordView } from "../../operation/view.ts";
import { edm, type Typed } from "../edm/edm.ts";
import { matches, sizeOf, type PropertyReader } from "../filter/evaluate.ts";
import { keyBoxes } from "../filter/key-boxes.ts";
import { residualFilter } from "../filter/residual-filter.ts";
import type { Filter } from "../filter/tree.ts";
import type { Row } from "../json/write-entity.ts";
import { entities } from "../records.ts";
import { EntityRecord } from "../stored/entity-record.ts";
import { KeyReader } from "./key-reader.ts";
import { ScannedRow } from "./scanned-row.ts";
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
  if (limit === 0) return emptyPage;
  const rows: Row[] = [];
  const keys = new KeyReader(selection.table);
  let row: Row = noRow;
  const read: PropertyReader = (name) => propertyOf(row, name);
  let scanned = 0;
  const boxes = keyBoxes(filter);
  const left = filter && residualFilter(filter, boxes);
  const unitsPerRow = left === undefined ? 0 : sizeOf(left) * unitsPerComparison;
  for (const range of keyRanges({ ...selection, boxes })) {
    const most = filter === undefined ? limit - rows.length + 1 : scannedRowsMax - scanned + 1;
    for await (const batch of view.scan(entities, { ...range, limit: most })) {
      // By index: an iterator that lives across an await allocates at each step.
      for (let at = 0; at < batch.length; at += 1) {
        row = new ScannedRow(view, keys, batch[at]!);
        if (scanned >= scannedRowsMax) return { rows, next: row };
        scanned += 1;
        if (unitsPerRow >= 1) await spend(unitsPerRow);
        if (left !== undefined && !matches(left, read)) continue;
        if (rows.length >= limit) return { rows, next: row };
        rows.push(row);
      }
    }
  }
  return { rows, next: undefined };
}

/** Without a next page: a client would follow it for ever. */
const emptyPage: Page = { rows: [], next: undefined };

/** Of the event loop's time (`base/loop-share.ts`). Only a long filter is worth counting. */
const unitsPerComparison = 0.02;

const noRow: Row = { partitionKey: "", rowKey: "", record: new EntityRecord(new Uint8Array()) };

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
