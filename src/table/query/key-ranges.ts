import type { EntityKeys } from "../../protocol/entity-range.ts";
import { compareKeys, successor, type KeyBounds } from "../../encoding/keys.ts";
import type { EntityRange } from "../../protocol/principal.ts";
import { keyUnitsMax } from "../edm/limits.ts";
import type { Box } from "../filter/key-boxes.ts";
import { encodeKeyText } from "../key-text.ts";
import { entities } from "../records.ts";

export interface Reach {
  readonly table: bigint;
  readonly boxes: readonly Box[];
  /** Where the page starts. */
  readonly from: EntityKeys | undefined;
  /** What the caller's signature is limited to. */
  readonly within: EntityRange | undefined;
}

/** The stretches of the key space a page has to look at, in order and apart from each other. */
export function keyRanges({ table, boxes, from, within }: Reach): readonly KeyBounds[] {
  if (within !== undefined && Object.values(within).some(isTooLong)) return [];
  const floor = from && entities.key({ table, ...from });
  const ranges: KeyBounds[] = [];
  for (const box of boxes) {
    let { start, end } = boxBounds(table, box);
    if (floor !== undefined && compareKeys(start, floor) < 0) start = floor;
    if (within !== undefined) {
      const allowed = boxBounds(table, signedBox(within));
      if (compareKeys(start, allowed.start) < 0) ({ start } = allowed);
      if (compareKeys(end, allowed.end) > 0) ({ end } = allowed);
    }
    if (compareKeys(start, end) < 0) ranges.push({ start, end });
  }
  return merge(ranges.toSorted((one, other) => compareKeys(one.start, other.start)));
}

/** A signature may name keys that no entity can have. */
function isTooLong(key: string | undefined): boolean {
  return key !== undefined && key.length > keyUnitsMax;
}

/** The hull of a box: from its lowest pair of keys to its highest. */
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

/** Both bounds of a signature are included, and compare the pair of keys. */
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
