import type { EntityKeys } from "../../protocol/entity-range.ts";
import { spend } from "../../base/loop-share.ts";
import type { RecordView } from "../../operation/view.ts";
import { edm, type TypedValue } from "../edm/edm.ts";
import { matches, countComparisons, type PropertyReader } from "../filter/evaluate.ts";
import { keyBoxes } from "../filter/key-boxes.ts";
import { residualFilter } from "../filter/residual-filter.ts";
import type { Filter } from "../filter/tree.ts";
import type { Row } from "../json/write-entity.ts";
import { entities } from "../records.ts";
import { EntityRecord } from "../stored/entity-record.ts";
import { KeyReader } from "./key-reader.ts";
import { ScannedRow } from "./scanned-row.ts";
import { keyRanges, type ScanScope } from "./key-ranges.ts";

/** What a page of entities contains: the matches of `filter`, at most `limit`. */
export interface Selection extends Omit<ScanScope, "boxes"> {
  readonly filter: Filter | undefined;
  readonly limit: number;
}

export interface Page {
  readonly rows: readonly Row[];
  /** Keys of the first entity of the next page; undefined at the end. */
  readonly next: EntityKeys | undefined;
}

/** Entities that one page scans. A page that finds fewer matches ends early with a continuation. */
export const scannedRowsMax = 20_000;

/** Reads one page of one state, in key order. Scans only the key ranges that the filter
 *  can match. */
export async function scanEntities(view: RecordView, selection: Selection): Promise<Page> {
  const { filter, limit } = selection;
  if (limit === 0) return emptyPage;
  const rows: Row[] = [];
  const keys = new KeyReader(selection.table);
  let row: Row = noRow;
  const readProperty: PropertyReader = (name) => propertyOf(row, name);
  let scanned = 0;
  const boxes = keyBoxes(filter);
  const residual = filter && residualFilter(filter, boxes);
  const unitsPerRow = residual === undefined ? 0 : countComparisons(residual) * unitsPerComparison;
  for (const range of keyRanges({ ...selection, boxes })) {
    const entriesMax =
      filter === undefined ? limit - rows.length + 1 : scannedRowsMax - scanned + 1;
    for await (const batch of view.scan(entities, { ...range, limit: entriesMax })) {
      // By index: an iterator that lives across an `await` allocates at each step.
      for (let index = 0; index < batch.length; index += 1) {
        row = new ScannedRow(view, keys, batch[index]!);
        if (scanned >= scannedRowsMax) return { rows, next: row };
        scanned += 1;
        if (unitsPerRow >= 1) await spend(unitsPerRow);
        if (residual !== undefined && !matches(residual, readProperty)) continue;
        if (rows.length >= limit) return { rows, next: row };
        rows.push(row);
      }
    }
  }
  return { rows, next: undefined };
}

/** No continuation: a client of `$top=0` would follow it forever. */
const emptyPage: Page = { rows: [], next: undefined };

/** Cost of a comparison in units of event-loop time (`base/loop-share.ts`). Filters below 50
 *  comparisons are not counted. */
const unitsPerComparison = 0.02;

const noRow: Row = { partitionKey: "", rowKey: "", record: new EntityRecord(new Uint8Array()) };

/** Keys and Timestamp are not stored as properties. */
export function propertyOf(row: Row, name: string): TypedValue | undefined {
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
