import type { EntityKeys } from "../../protocol/entity-range.ts";
import { compareKeys, successor, type KeyBounds } from "../../encoding/keys.ts";
import type { EntityRange } from "../../protocol/principal.ts";
import { keyUnitsMax } from "../edm/limits.ts";
import type { Box } from "../filter/key-boxes.ts";
import { encodeKeyText } from "../key-text.ts";
import { entities } from "../records.ts";

/** What determines the key ranges of a page of entities. */
export interface ScanScope {
  readonly table: bigint;
  readonly boxes: readonly Box[];
  /** First entity of the page; undefined for the first page. */
  readonly from: EntityKeys | undefined;
  /** The key range of the caller's SAS; undefined without one. */
  readonly within: EntityRange | undefined;
}

/** Returns the key ranges that a page scans, in order and without overlap. */
export function keyRanges({ table, boxes, from, within }: ScanScope): readonly KeyBounds[] {
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

/** A SAS may name keys longer than an entity can have; such a range contains nothing. */
function exceedsKeyLimit(key: string | undefined): boolean {
  return key !== undefined && key.length > keyUnitsMax;
}

/** The smallest key range that contains a box. It may contain keys outside the box; the filter
 *  rejects those. */
function boxBounds(table: bigint, { partitions, rows }: Box): KeyBounds {
  const whole = entities.range([table]);
  const { low, high } = partitions;
  return {
    start: low === undefined ? whole.start : lowest(table, low, rows.low),
    end: high === undefined ? whole.end : highest(table, high, rows.high),
  };
}

type Bound = NonNullable<Box["partitions"]["low"]>;

function lowest(table: bigint, partition: Bound, row: Bound | undefined): Uint8Array {
  const part = encodeKeyText(partition.key);
  if (!partition.included) return entities.range([table, part]).end;
  if (row === undefined) return entities.prefix([table, part]);
  const key = entities.prefix([table, part, encodeKeyText(row.key)]);
  return row.included ? key : successor(key);
}

function highest(table: bigint, partition: Bound, row: Bound | undefined): Uint8Array {
  const part = encodeKeyText(partition.key);
  if (!partition.included) return entities.prefix([table, part]);
  if (row === undefined) return entities.range([table, part]).end;
  const key = entities.prefix([table, part, encodeKeyText(row.key)]);
  return row.included ? successor(key) : key;
}

/** Both bounds of a SAS are inclusive pairs of partition key and row key. */
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
