import { parseIso } from "../../core/dates.ts";
import { matchesLike } from "./like-pattern.ts";
import { RecordError } from "./records.ts";
import { callScalar } from "./scalars.ts";
import type { Arithmetic, CastType, Comparison, Expression } from "./sql-tree.ts";

/** A value of a record; dates are ticks. JSON objects and arrays only pass through. */
export type SqlValue = string | number | boolean | bigint | null | object;

/** How a record gives up a column; absent ones are null. */
export type Lookup = (path: readonly (string | number)[]) => SqlValue;

/** A value has not the type that is asked of it. */
export const invalidConversion = "InvalidTypeConversion";

export function evaluate(expression: Expression, lookup: Lookup): SqlValue {
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "column":
      return lookup(expression.path);
    case "unary":
      return evaluateUnary(expression, lookup);
    case "binary":
      return evaluateBinary(expression, lookup);
    case "null-test":
      return (evaluate(expression.of, lookup) === null) !== expression.negated;
    case "cast":
      return cast(evaluate(expression.of, lookup), expression.type);
    case "like": {
      const value = evaluate(expression.of, lookup);
      return value === null ? null : matchesLike(expression.pattern, textOf(value));
    }
    case "in": {
      const value = evaluate(expression.of, lookup);
      return expression.among.some((one) => compare("=", value, evaluate(one, lookup)) === true);
    }
    case "call": {
      const { name, given } = expression;
      return callScalar(
        name,
        given.map((one) => evaluate(one, lookup)),
      );
    }
  }
}

/** Whether a record passes: unknown is no. */
export function holds(expression: Expression, lookup: Lookup): boolean {
  return truth(evaluate(expression, lookup)) === true;
}

function truth(value: SqlValue): boolean | null {
  if (value === null || typeof value === "boolean") return value;
  return cast(value, "bool") as boolean;
}

function evaluateUnary(
  { operator, of }: Extract<Expression, { kind: "unary" }>,
  lookup: Lookup,
): SqlValue {
  const value = evaluate(of, lookup);
  if (value === null) return null;
  return operator === "not" ? !truth(value) : -numberOf(value);
}

function evaluateBinary(
  { operator, left, right }: Extract<Expression, { kind: "binary" }>,
  lookup: Lookup,
): SqlValue {
  if (operator === "and" || operator === "or") {
    const decided = operator === "or";
    const first = truth(evaluate(left, lookup));
    if (first === decided) return decided;
    const second = truth(evaluate(right, lookup));
    if (second === decided) return decided;
    return first === null || second === null ? null : !decided;
  }
  const first = evaluate(left, lookup);
  const second = evaluate(right, lookup);
  if (isComparison(operator)) return compare(operator, first, second);
  if (first === null || second === null) return null;
  return calculate(operator, numberOf(first), numberOf(second));
}

function isComparison(operator: Comparison | Arithmetic): operator is Comparison {
  return operator === "=" || operator.startsWith("<") || operator.startsWith(">");
}

/** Texts of a file take the type of what they are compared with. */
function compare(operator: Comparison, left: SqlValue, right: SqlValue): boolean | null {
  if (left === null || right === null) return null;
  if (typeof left === "string" && typeof right === "string") return order(operator, left, right);
  const type = typeof left === "string" ? typeOf(right) : typeOf(left);
  const first = cast(left, type);
  const second = cast(right, type);
  if (first === null || second === null) return null;
  return order(operator, first as number, second as number);
}

function typeOf(value: SqlValue): CastType {
  switch (typeof value) {
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "bigint":
      return "timestamp";
    default:
      return "string";
  }
}

function order<T extends string | number | bigint | boolean>(
  operator: Comparison,
  left: T,
  right: T,
): boolean {
  switch (operator) {
    case "=":
      return left === right;
    case "<>":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

function calculate(operator: Arithmetic, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return divide(left, right);
    case "%":
      return left % nonZero(right);
    case "^":
      return left ^ right;
    case "&":
      return left & right;
    case "|":
      return left | right;
  }
}

function divide(left: number, right: number): number {
  const exact = left / nonZero(right);
  return Number.isInteger(left) && Number.isInteger(right) ? Math.trunc(exact) : exact;
}

function nonZero(value: number): number {
  if (value === 0) throw new RecordError(invalidConversion, "Division by zero.");
  return value;
}

const numberForm = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

export function numberOf(value: SqlValue): number {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string" && numberForm.test(value)) return Number(value);
  throw new RecordError(invalidConversion, "Invalid type conversion.");
}

export function textOf(value: SqlValue): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function cast(value: SqlValue, type: CastType): SqlValue {
  if (value === null) return null;
  switch (type) {
    case "int":
      return Math.trunc(numberOf(value));
    case "float":
      return numberOf(value);
    case "string":
      return textOf(value);
    case "bool":
      return booleanOf(value);
    case "timestamp":
      return ticksOf(value);
  }
}

function booleanOf(value: SqlValue): boolean {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  const lower = textOf(value).trim().toLowerCase();
  if (lower === "true") return true;
  if (lower === "false") return false;
  throw new RecordError(invalidConversion, "Invalid type conversion.");
}

function ticksOf(value: SqlValue): bigint {
  if (typeof value === "bigint") return value;
  const ticks = typeof value === "string" ? parseIso(value.trim()) : undefined;
  if (ticks === undefined) throw new RecordError(invalidConversion, "Invalid type conversion.");
  return ticks;
}
