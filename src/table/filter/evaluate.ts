import { edm, type TypedValue } from "../edm/edm.ts";
import type { Comparison, Filter, Operand } from "./parse-filter.ts";
import type { Box } from "./key-boxes.ts";

/** Evaluates a parsed `$filter` for one entity. Query Entities runs it for each scanned row
 *  (`table/query/scan-entities.ts`). */

/** Returns a property of the entity to evaluate; undefined if it has none of this name. */
export type PropertyReader = (name: string) => TypedValue | undefined;

/** Whether an entity matches. A missing property, or one of another type than the constant,
 *  satisfies no comparison, not even `ne`. Numbers of different types are compared by value. */
export function matches(filter: Filter, readProperty: PropertyReader): boolean {
  switch (filter.kind) {
    case "and":
      return matches(filter.left, readProperty) && matches(filter.right, readProperty);
    case "or":
      return matches(filter.left, readProperty) || matches(filter.right, readProperty);
    case "not":
      return !matches(filter.inner, readProperty);
    case "value": {
      const value = valueOf(filter.operand, readProperty);
      return value?.type === edm.boolean && value.value;
    }
    case "compare": {
      const left = valueOf(filter.left, readProperty);
      const right = valueOf(filter.right, readProperty);
      return (
        left !== undefined && right !== undefined && isSatisfied(filter.comparison, left, right)
      );
    }
  }
}

/** How many comparisons the evaluation for one entity takes at most. `table/query/scan-entities.ts`
 *  estimates from it how long a query occupies the event loop. */
export function countComparisons(filter: Filter): number {
  switch (filter.kind) {
    case "and":
    case "or":
      return countComparisons(filter.left) + countComparisons(filter.right);
    case "not":
      return countComparisons(filter.inner);
    case "value":
    case "compare":
      return 1;
  }
}

function valueOf(operand: Operand, readProperty: PropertyReader): TypedValue | undefined {
  return operand.kind === "literal" ? operand.literal : readProperty(operand.name);
}

function isSatisfied(comparison: Comparison, left: TypedValue, right: TypedValue): boolean {
  const order = compare(left, right);
  if (order === undefined) return false;
  switch (comparison) {
    case "eq":
      return order === 0;
    case "ne":
      return order !== 0;
    case "gt":
      return order > 0;
    case "ge":
      return order >= 0;
    case "lt":
      return order < 0;
    case "le":
      return order <= 0;
  }
}

/** Compares as `<=>`: negative, 0 or positive. NaN if a number is NaN, which satisfies only `ne`;
 *  undefined if the types cannot be compared. */
function compare(left: TypedValue, right: TypedValue): number | undefined {
  if (isNumeric(left) && isNumeric(right)) {
    if (left.value < right.value) return -1;
    if (left.value > right.value) return 1;
    // oxlint-disable-next-line eqeqeq -- a bigint and a number are equal only loosely
    return left.value == right.value ? 0 : Number.NaN;
  }
  if (left.type !== right.type) return undefined;
  if (left.type === edm.binary) return Buffer.compare(left.value, right.value as Uint8Array);
  if (left.value === right.value) return 0;
  return left.value < right.value ? -1 : 1;
}

function isNumeric(
  typed: TypedValue,
): typed is Extract<TypedValue, { value: number }> | { type: typeof edm.int64; value: bigint } {
  return typed.type === edm.int32 || typed.type === edm.int64 || typed.type === edm.double;
}

/** The part of a filter that must be evaluated for entities inside its boxes, the key ranges of
 *  `key-boxes.ts`. If these cover only one partition, tests of PartitionKey for it are dropped.
 *  Undefined if nothing is left to evaluate. */
export function residualFilter(filter: Filter, boxes: readonly Box[]): Filter | undefined {
  const partition = onlyPartition(boxes);
  return partition === undefined ? filter : withoutPartition(filter, partition);
}

/** The partition key that all boxes are restricted to; undefined if there is no such key. */
function onlyPartition(boxes: readonly Box[]): string | undefined {
  const [first] = boxes;
  const key = first?.partitions.low?.key;
  const isOne = boxes.every(
    ({ partitions: { low, high } }) => low?.key === key && high?.key === key,
  );
  return isOne ? key : undefined;
}

function withoutPartition(filter: Filter, partition: string): Filter | undefined {
  if (filter.kind === "compare") return isPartitionTest(filter, partition) ? undefined : filter;
  if (filter.kind !== "and") return filter;
  const left = withoutPartition(filter.left, partition);
  const right = withoutPartition(filter.right, partition);
  if (left === undefined || right === undefined) return left ?? right;
  return { kind: "and", left, right };
}

function isPartitionTest(filter: Extract<Filter, { kind: "compare" }>, partition: string): boolean {
  const { comparison, left, right } = filter;
  if (comparison !== "eq" || left.kind !== "property" || right.kind !== "literal") return false;
  const { literal } = right;
  if (left.name !== "PartitionKey" || literal?.type !== edm.string) return false;
  return literal.value === partition;
}
