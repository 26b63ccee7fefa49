import { edm, keyUnitsMax } from "../edm/edm.ts";
import type { Comparison, Filter } from "./parse-filter.ts";

/** Derives from a `$filter` which keys an entity must have, so that Query Entities scans only these
 *  ranges. A box is a range of partition keys times a range of row keys; a filter with `or` has
 *  several. */

/** A range of partition or row keys, ordered by UTF-16 code units; either end may be open. */
export interface KeySpan {
  readonly low?: Bound;
  readonly high?: Bound;
}

interface Bound {
  readonly key: string;
  readonly included: boolean;
}

/** A range of partition keys times a range of row keys. */
export interface Box {
  readonly partitions: KeySpan;
  readonly rows: KeySpan;
}

/** Limit of boxes per filter. Scanning a wider range is cheaper than scanning more of them. */
const boxesMax = 64;

/** The box of a filter that does not restrict the keys: the whole table. */
const allKeys: readonly Box[] = [{ partitions: {}, rows: {} }];

/** Returns boxes that contain every entity the filter can match. */
export function keyBoxes(filter: Filter | undefined): readonly Box[] {
  return filter === undefined ? allKeys : boxesOf(filter, false);
}

/** Derives the boxes of a filter or, with `negated`, those of its negation: a `not` is pushed down
 *  to the comparisons. Every entity has both keys, so the negation of a comparison with a key is
 *  the opposite comparison. */
function boxesOf(filter: Filter, negated: boolean): readonly Box[] {
  switch (filter.kind) {
    case "not":
      return boxesOf(filter.inner, !negated);
    case "value":
      return allKeys;
    case "and":
    case "or": {
      const left = boxesOf(filter.left, negated);
      const right = boxesOf(filter.right, negated);
      const isAnd = (filter.kind === "and") !== negated;
      return isAnd ? intersectAll(left, right) : unite(left, right);
    }
    case "compare":
      return compareBoxes(filter, negated);
  }
}

function unite(left: readonly Box[], right: readonly Box[]): readonly Box[] {
  if (left === allKeys || right === allKeys) return allKeys;
  return left.length + right.length > boxesMax ? allKeys : [...left, ...right];
}

function intersectAll(left: readonly Box[], right: readonly Box[]): readonly Box[] {
  if (left.length * right.length > boxesMax) return left.length < right.length ? left : right;
  const boxes: Box[] = [];
  for (const one of left) {
    for (const other of right) {
      const partitions = intersect(one.partitions, other.partitions);
      const rows = intersect(one.rows, other.rows);
      if (partitions !== undefined && rows !== undefined) boxes.push({ partitions, rows });
    }
  }
  return boxes;
}

/** The comparison with its operands exchanged, for a filter as `'a' lt RowKey`. */
const flipped: Readonly<Record<Comparison, Comparison>> = {
  eq: "eq",
  ne: "ne",
  gt: "lt",
  ge: "le",
  lt: "gt",
  le: "ge",
};
/** The comparison that is true if the given one is false, for `not`. */
const opposite: Readonly<Record<Comparison, Comparison>> = {
  eq: "ne",
  ne: "eq",
  gt: "le",
  ge: "lt",
  lt: "ge",
  le: "gt",
};

function compareBoxes(
  { comparison, left, right }: Extract<Filter, { kind: "compare" }>,
  negated: boolean,
): readonly Box[] {
  if (left.kind === "literal" && right.kind === "property") {
    const swapped = { kind: "compare", comparison: flipped[comparison], left: right, right: left };
    return compareBoxes(swapped as Extract<Filter, { kind: "compare" }>, negated);
  }
  if (left.kind !== "property" || right.kind !== "literal") return allKeys;
  const { literal } = right;
  const isKey = left.name === "PartitionKey" || left.name === "RowKey";
  if (!isKey || literal?.type !== edm.string) return allKeys;
  // No key is that long, and it cannot be encoded as one: the scan is not limited by it, and the
  // residual filter (`evaluate.ts`) compares it.
  if (literal.value.length > keyUnitsMax) return allKeys;
  const span = spanOf(negated ? opposite[comparison] : comparison, literal.value);
  return left.name === "PartitionKey"
    ? [{ partitions: span, rows: {} }]
    : [{ partitions: {}, rows: span }];
}

function spanOf(comparison: Comparison, key: string): KeySpan {
  switch (comparison) {
    case "eq":
      return { low: { key, included: true }, high: { key, included: true } };
    case "gt":
      return { low: { key, included: false } };
    case "ge":
      return { low: { key, included: true } };
    case "lt":
      return { high: { key, included: false } };
    case "le":
      return { high: { key, included: true } };
    case "ne":
      return {};
  }
}

/** The keys that are in both ranges; undefined if the ranges do not overlap. */
function intersect(one: KeySpan, other: KeySpan): KeySpan | undefined {
  const low = tighter(one.low, other.low, (key, than) => key > than);
  const high = tighter(one.high, other.high, (key, than) => key < than);
  if (low !== undefined && high !== undefined) {
    if (low.key > high.key) return undefined;
    if (low.key === high.key && !(low.included && high.included)) return undefined;
  }
  return { ...(low === undefined ? {} : { low }), ...(high === undefined ? {} : { high }) };
}

function tighter(
  one: Bound | undefined,
  other: Bound | undefined,
  isTighter: (key: string, than: string) => boolean,
): Bound | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.key === other.key) return one.included ? other : one;
  return isTighter(one.key, other.key) ? one : other;
}
