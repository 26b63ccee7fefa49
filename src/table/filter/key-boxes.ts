import { edm } from "../edm/edm.ts";
import { keyUnitsMax } from "../edm/limits.ts";
import type { Comparison, Filter } from "./tree.ts";

/** A stretch of strings in the order of their UTF-16 units; an absent bound is open. */
export interface Span {
  readonly low?: Bound;
  readonly high?: Bound;
}

export interface Bound {
  readonly key: string;
  readonly included: boolean;
}

/** A partition stretch times a row stretch: everything outside all boxes cannot match. */
export interface Box {
  readonly partitions: Span;
  readonly rows: Span;
}

/** More boxes than this cost more than they save: then the filter alone decides. */
export const boxesMax = 64;

const everywhere: readonly Box[] = [{ partitions: {}, rows: {} }];

/** The part of the key space a filter can reach. */
export function keyBoxes(filter: Filter | undefined): readonly Box[] {
  return filter === undefined ? everywhere : boxesOf(filter, false);
}

/** `negated` carries a `not` down to the comparisons: both keys are always there, so that the
 *  opposite of a comparison with them is a comparison again. */
function boxesOf(filter: Filter, negated: boolean): readonly Box[] {
  switch (filter.kind) {
    case "not":
      return boxesOf(filter.inner, !negated);
    case "value":
      return everywhere;
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
  if (left === everywhere || right === everywhere) return everywhere;
  return left.length + right.length > boxesMax ? everywhere : [...left, ...right];
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

const flipped: Readonly<Record<Comparison, Comparison>> = {
  eq: "eq",
  ne: "ne",
  gt: "lt",
  ge: "le",
  lt: "gt",
  le: "ge",
};
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
    const turned = { kind: "compare", comparison: flipped[comparison], left: right, right: left };
    return compareBoxes(turned as Extract<Filter, { kind: "compare" }>, negated);
  }
  if (left.kind !== "property" || right.kind !== "literal") return everywhere;
  const { literal } = right;
  const isKey = left.name === "PartitionKey" || left.name === "RowKey";
  if (!isKey || literal?.type !== edm.string) return everywhere;
  // No key is that long, nor can one be written down; the comparison itself still holds.
  if (literal.value.length > keyUnitsMax) return everywhere;
  const span = spanOf(negated ? opposite[comparison] : comparison, literal.value);
  return left.name === "PartitionKey"
    ? [{ partitions: span, rows: {} }]
    : [{ partitions: {}, rows: span }];
}

function spanOf(comparison: Comparison, key: string): Span {
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

/** Undefined if the two have nothing in common. */
export function intersect(one: Span, other: Span): Span | undefined {
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
