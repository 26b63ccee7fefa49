import type { EntityKeys, EntityRange } from "../../protocol/principal.ts";
import { decodeKeyText, encodeKeyText } from "../key-text.ts";
import { entities } from "../records.ts";
import type { RecordView, Rendered, Scanned } from "../../operation/view.ts";
import { edm, keyUnitsMax, type TypedValue } from "../edm/edm.ts";
import {
  countComparisons,
  matches,
  residualFilter,
  type PropertyReader,
} from "../filter/evaluate.ts";
import { keyBoxes, type Box } from "../filter/key-boxes.ts";
import type { Filter } from "../filter/parse-filter.ts";
import type { Row } from "../json/write-entity.ts";
import { EntityRecord } from "../stored/entity-record.ts";
import { compareKeys, successor, type KeyBounds } from "../../encoding/keys.ts";

/** Reads a page of entities for Query Entities: scans the key ranges to which `$filter`,
 *  continuation token and SAS restrict the request, then evaluates the filter for each row. */

/** Decodes store keys of entities, faster than the general decoder. After the prefix of the table
 *  they are `02 partition 00 02 row 00`; keys of entities cannot contain characters below U+0020,
 *  so no byte is escaped. Keeps the last partition key: rows of a partition are consecutive. */
export class KeyReader {
  readonly #from: number;
  #partition: Uint8Array = new Uint8Array();
  #partitionKey = "";

  constructor(table: bigint) {
    this.#from = entities.prefix([table]).length + 1;
  }

  read(key: Uint8Array): EntityKeys {
    const end = key.indexOf(0, this.#from);
    if (!this.#isSamePartition(key, end)) {
      this.#partition = key.slice(this.#from, end);
      this.#partitionKey = textOf(this.#partition, 0, this.#partition.length);
    }
    return { partitionKey: this.#partitionKey, rowKey: textOf(key, end + 2, key.length - 1) };
  }

  #isSamePartition(key: Uint8Array, end: number): boolean {
    const { length } = this.#partition;
    if (end - this.#from !== length) return false;
    for (let index = 0; index < length; index += 1) {
      if (key[this.#from + index] !== this.#partition[index]) return false;
    }
    return true;
  }
}

/** Up to this length, a loop over ASCII bytes is faster than a call of Node's decoder. */
const loopBytesMax = 64;

function textOf(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > loopBytesMax) return decodeKeyText(bytes.subarray(from, to));
  let text = "";
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80) return decodeKeyText(bytes.subarray(from, to));
    text += String.fromCharCode(byte);
  }
  return text;
}

/** What a page of entities contains: the matches of `filter`, at most `limit`. */
interface Selection extends Omit<ScanScope, "boxes"> {
  readonly filter: Filter | undefined;
  readonly limit: number;
}

/** The result of one Query Entities. */
interface Page {
  readonly rows: readonly Row[];
  /** Keys of the first entity of the next page; undefined at the end. */
  readonly next: EntityKeys | undefined;
}

/** Most entities that one request scans, which bounds its duration. If fewer than a full page
 *  match, the page ends early, with a continuation token. */
const scannedRowsMax = 20_000;

/** Reads a page of one state in key order, scanning only keys that the filter can match. */
export async function scanEntities(view: RecordView, selection: Selection): Promise<Page> {
  const { filter, limit } = selection;
  if (limit === 0) return emptyPage;
  const rows: Row[] = [];
  const keys = new KeyReader(selection.table);
  let row: Row = noRow;
  const readProperty: PropertyReader = (name) => propertyOf(row, name);
  let scanned = 0;
  let comparisons = 0;
  const boxes = keyBoxes(filter);
  const residual = filter && residualFilter(filter, boxes);
  const perRow = residual === undefined ? 0 : countComparisons(residual);
  for (const range of keyRanges({ ...selection, boxes })) {
    const entriesMax =
      filter === undefined ? limit - rows.length + 1 : scannedRowsMax - scanned + 1;
    for await (const batch of view.scan(entities, { ...range, limit: entriesMax })) {
      // By index: an iterator that lives across an `await` allocates at each step.
      for (let index = 0; index < batch.length; index += 1) {
        row = new ScannedRow(view, keys, batch[index]!);
        if (scanned >= scannedRowsMax) return { rows, next: row };
        scanned += 1;
        comparisons += perRow;
        if (comparisons >= comparisonsPerStep) {
          const wait = view.loop.spend(comparisons * unitsPerComparison);
          comparisons = 0;
          if (wait !== undefined) await wait;
        }
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

/** Estimated cost of one comparison of a filter, in units of event-loop time
 *  (`base/loop-share.ts`). */
const unitsPerComparison = 0.005;
/** After so many comparisons the scan reports them to the event loop's limit (`view.loop`), and
 *  waits if it is reached. A report per row would cost more than the comparisons. */
const comparisonsPerStep = 800;

/** The row before the first one; the filter is never evaluated for it. */
const noRow: Row = { partitionKey: "", rowKey: "", record: new EntityRecord(new Uint8Array()) };

/** A property of a row, for a filter. Keys and Timestamp are not stored as properties. */
function propertyOf(row: Row, name: string): TypedValue | undefined {
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

/** What determines the key ranges of a page of entities. */
interface ScanScope {
  readonly table: bigint;
  readonly boxes: readonly Box[];
  /** First entity of the page; undefined for the first page. */
  readonly from: EntityKeys | undefined;
  /** The key range of the caller's SAS; undefined without one. */
  readonly within: EntityRange | undefined;
}

/** Returns the key ranges that a page scans, in order and without overlap. */
function keyRanges({ table, boxes, from, within }: ScanScope): readonly KeyBounds[] {
  if (within !== undefined && Object.values(within).some(exceedsKeyLimit)) return [];
  const firstKey = from && entities.key({ table, ...from });
  const ranges: KeyBounds[] = [];
  for (const box of boxes) {
    let { start, end } = boxBounds(table, box);
    if (firstKey !== undefined && compareKeys(start, firstKey) < 0) start = firstKey;
    if (within !== undefined) {
      const allowed = boxBounds(table, signedBox(within));
      if (compareKeys(start, allowed.start) < 0) ({ start } = allowed);
      if (compareKeys(end, allowed.end) > 0) ({ end } = allowed);
    }
    if (compareKeys(start, end) < 0) ranges.push({ start, end });
  }
  return merge(ranges.toSorted((one, other) => compareKeys(one.start, other.start)));
}

/** Whether a key in a SAS is longer than an entity's key can be. A range with such a bound contains
 *  nothing. */
function exceedsKeyLimit(key: string | undefined): boolean {
  return key !== undefined && key.length > keyUnitsMax;
}

/** The smallest range of store keys that contains a box (`table/filter/key-boxes.ts`). It may
 *  contain keys outside the box; the filter rejects those. */
function boxBounds(table: bigint, { partitions, rows }: Box): KeyBounds {
  const whole = entities.range([table]);
  const { low, high } = partitions;
  return {
    start: low === undefined ? whole.start : lowest(table, low, rows.low),
    end: high === undefined ? whole.end : highest(table, high, rows.high),
  };
}

type Bound = NonNullable<Box["partitions"]["low"]>;

/** The first store key of a box: `row` counts only in the partition with which the box begins. */
function lowest(table: bigint, partition: Bound, row: Bound | undefined): Uint8Array {
  const part = encodeKeyText(partition.key);
  if (!partition.included) return entities.range([table, part]).end;
  if (row === undefined) return entities.prefix([table, part]);
  const key = entities.prefix([table, part, encodeKeyText(row.key)]);
  return row.included ? key : successor(key);
}

/** The end of a box, exclusive; `row` counts only in the partition with which the box ends. */
function highest(table: bigint, partition: Bound, row: Bound | undefined): Uint8Array {
  const part = encodeKeyText(partition.key);
  if (!partition.included) return entities.prefix([table, part]);
  if (row === undefined) return entities.range([table, part]).end;
  const key = entities.prefix([table, part, encodeKeyText(row.key)]);
  return row.included ? successor(key) : key;
}

/** The range of a SAS, whose bounds are inclusive pairs of partition key and row key. */
function signedBox(range: EntityRange): Box {
  const bound = (key: string | undefined) =>
    key === undefined ? undefined : { key, included: true };
  const span = (low: Bound | undefined, high: Bound | undefined) => ({
    ...(low === undefined ? {} : { low }),
    ...(high === undefined ? {} : { high }),
  });
  return {
    partitions: span(bound(range.startPartitionKey), bound(range.endPartitionKey)),
    rows: span(bound(range.startRowKey), bound(range.endRowKey)),
  };
}

/** Joins ranges that overlap, so that no entity is returned twice. */
function merge(sorted: readonly KeyBounds[]): readonly KeyBounds[] {
  const merged: KeyBounds[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last === undefined || compareKeys(range.start, last.end) > 0) merged.push(range);
    else if (compareKeys(range.end, last.end) > 0) {
      merged[merged.length - 1] = { start: last.start, end: range.end };
    }
  }
  return merged;
}

/** A row of a scan. Decodes its keys on first use: most rows are filtered out, or their JSON comes
 *  from the cache. `Required` demands `renderCached`, without which every row would be rendered. */
class ScannedRow implements Required<Row> {
  readonly #view: RecordView;
  readonly #reader: KeyReader;
  readonly #entry: Scanned<EntityRecord>;
  #keys: EntityKeys | undefined;

  constructor(view: RecordView, reader: KeyReader, entry: Scanned<EntityRecord>) {
    this.#view = view;
    this.#reader = reader;
    this.#entry = entry;
  }

  get record(): EntityRecord {
    return this.#entry.record;
  }

  get partitionKey(): string {
    this.#keys ??= this.#reader.read(this.#entry.key);
    return this.#keys.partitionKey;
  }

  get rowKey(): string {
    this.#keys ??= this.#reader.read(this.#entry.key);
    return this.#keys.rowKey;
  }

  renderCached(cacheKey: number, render: () => Rendered): string {
    return this.#view.renderCached(this.#entry, cacheKey, render) ?? "";
  }
}
