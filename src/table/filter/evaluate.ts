import { edm, type Typed } from "../edm/edm.ts";
import type { Comparison, Filter, Operand } from "./tree.ts";

/** What a filter looks at: the value of a property, or undefined if there is none. */
export type PropertyReader = (name: string) => Typed | undefined;

/** A property that is missing, or of another type than the constant, satisfies no comparison, not
 *  even `ne`; numbers of different types compare by value. */
export function matches(filter: Filter, read: PropertyReader): boolean {
  switch (filter.kind) {
    case "and":
      return matches(filter.left, read) && matches(filter.right, read);
    case "or":
      return matches(filter.left, read) || matches(filter.right, read);
    case "not":
      return !matches(filter.inner, read);
    case "value": {
      const value = valueOf(filter.operand, read);
      return value?.type === edm.boolean && value.value;
    }
    case "compare": {
      const left = valueOf(filter.left, read);
      const right = valueOf(filter.right, read);
      return left !== undefined && right !== undefined && holds(filter.comparison, left, right);
    }
  }
}

/** How many comparisons it takes at most. */
export function sizeOf(filter: Filter): number {
  switch (filter.kind) {
    case "and":
    case "or":
      return sizeOf(filter.left) + sizeOf(filter.right);
    case "not":
      return sizeOf(filter.inner);
    case "value":
    case "compare":
      return 1;
  }
}

function valueOf(operand: Operand, read: PropertyReader): Typed | undefined {
  return operand.kind === "literal" ? operand.literal : read(operand.name);
}

function holds(comparison: Comparison, left: Typed, right: Typed): boolean {
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

/** NaN where two numbers cannot be compared; undefined for types that have nothing in common. */
function compare(left: Typed, right: Typed): number | undefined {
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
  typed: Typed,
): typed is Extract<Typed, { value: number }> | { type: typeof edm.int64; value: bigint } {
  return typed.type === edm.int32 || typed.type === edm.int64 || typed.type === edm.double;
}
