import { matchesLike, type LikePattern } from "./like-pattern.ts";
import { RecordError } from "./records.ts";
import { cast, invalidConversion, numberOf, textOf, type SqlValue } from "./values.ts";

/** The syntax tree of an SQL query, which `parse-query.ts` builds, and the evaluation of its
 *  expressions, which `run-query.ts` calls for each record. */

export type Expression =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "column"; readonly path: readonly (string | number)[] }
  | { readonly kind: "unary"; readonly operator: "not" | "-"; readonly of: Expression }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "null-test"; readonly of: Expression; readonly negated: boolean }
  | { readonly kind: "cast"; readonly of: Expression; readonly type: CastType }
  | { readonly kind: "like"; readonly of: Expression; readonly pattern: LikePattern }
  | { readonly kind: "in"; readonly of: Expression; readonly among: readonly Expression[] }
  | { readonly kind: "call"; readonly name: ScalarName; readonly given: readonly Expression[] };

export const comparisons = ["=", "<>", "<", "<=", ">", ">="] as const;
type Comparison = (typeof comparisons)[number];
type Arithmetic = "+" | "-" | "*" | "/" | "%" | "^" | "&" | "|";
export type BinaryOperator = Comparison | Arithmetic | "and" | "or";

export type CastType = "int" | "float" | "string" | "bool" | "timestamp";

export const scalarNames = [
  "COALESCE",
  "NULLIF",
  "CHAR_LENGTH",
  "CHARACTER_LENGTH",
  "LOWER",
  "UPPER",
  "SUBSTRING",
  "TRIM",
  "ABS",
] as const;
export type ScalarName = (typeof scalarNames)[number];

export const aggregateNames = ["COUNT", "SUM", "AVG", "MIN", "MAX"] as const;
type AggregateName = (typeof aggregateNames)[number];

export interface Projection {
  readonly of: Expression;
  readonly alias: string | undefined;
}

export interface Aggregate {
  readonly name: AggregateName;
  /** The argument of the function; undefined for `COUNT(*)`. */
  readonly of: Expression | undefined;
  readonly alias: string | undefined;
}

export type Selection =
  | { readonly kind: "all" }
  | { readonly kind: "columns"; readonly columns: readonly Projection[] }
  | { readonly kind: "aggregates"; readonly aggregates: readonly Aggregate[] };

export interface Query {
  readonly selection: Selection;
  /** Path after `BlobStorage` in FROM, to the records in JSON; `*` iterates over an array. */
  readonly from: readonly string[];
  readonly where: Expression | undefined;
  readonly limit: number | undefined;
}

/** Finds the value of a column in a record; null if it is absent. */
export type Lookup = (path: readonly (string | number)[]) => SqlValue;

/** Computes an SQL expression for one record of the queried blob. Null stands for an absent column,
 *  and for the result of an operation on one. */
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

/** Whether a condition (WHERE) is true for a record; null (unknown) counts as false, as in SQL. */
export function isTrue(expression: Expression, lookup: Lookup): boolean {
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
    const shortCircuit = operator === "or";
    const first = truth(evaluate(left, lookup));
    if (first === shortCircuit) return shortCircuit;
    const second = truth(evaluate(right, lookup));
    if (second === shortCircuit) return shortCircuit;
    return first === null || second === null ? null : !shortCircuit;
  }
  const first = evaluate(left, lookup);
  const second = evaluate(right, lookup);
  if (isComparison(operator)) return compare(operator, first, second);
  if (first === null || second === null) return null;
  return calculations[operator](numberOf(first), numberOf(second));
}

function isComparison(operator: Comparison | Arithmetic): operator is Comparison {
  return operator === "=" || operator.startsWith("<") || operator.startsWith(">");
}

/** Compares two values of an expression. Delimited text has no types, so a text is converted to the
 *  type of the value that it is compared with. */
function compare(operator: Comparison, left: SqlValue, right: SqlValue): boolean | null {
  if (left === null || right === null) return null;
  const test = comparisonTests[operator];
  if (typeof left === "string" && typeof right === "string") return test(left, right);
  const type = typeof left === "string" ? typeOf(right) : typeOf(left);
  const first = cast(left, type);
  const second = cast(right, type);
  if (first === null || second === null) return null;
  return test(first as Ordered, second as Ordered);
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

type Ordered = string | number | bigint | boolean;

const comparisonTests: Readonly<Record<Comparison, (left: Ordered, right: Ordered) => boolean>> = {
  "=": (left, right) => left === right,
  "<>": (left, right) => left !== right,
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};

const calculations: Readonly<Record<Arithmetic, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": divide,
  "%": (left, right) => left % nonZero(right),
  "^": (left, right) => left ^ right,
  "&": (left, right) => left & right,
  "|": (left, right) => left | right,
};

function divide(left: number, right: number): number {
  const exact = left / nonZero(right);
  return Number.isInteger(left) && Number.isInteger(right) ? Math.trunc(exact) : exact;
}

function nonZero(value: number): number {
  if (value === 0) throw new RecordError(invalidConversion, "Division by zero.");
  return value;
}

function callScalar(name: ScalarName, given: readonly SqlValue[]): SqlValue {
  const [first = null, second = null, third] = given;
  if (name === "COALESCE") return given.find((value) => value !== null) ?? null;
  if (first === null) return null;
  switch (name) {
    case "NULLIF":
      return second !== null && textOf(first) === textOf(second) ? null : first;
    case "CHAR_LENGTH":
    case "CHARACTER_LENGTH":
      return Array.from(textOf(first)).length;
    case "LOWER":
      return textOf(first).toLowerCase();
    case "UPPER":
      return textOf(first).toUpperCase();
    case "TRIM":
      return textOf(first).trim();
    case "ABS":
      return Math.abs(numberOf(first));
    case "SUBSTRING":
      return substring(textOf(first), second, third);
  }
}

/** The function SUBSTRING of SQL. Positions start at 1; positions outside the text are ignored. */
function substring(text: string, from: SqlValue, length: SqlValue | undefined): SqlValue {
  if (from === null || length === null) return null;
  const start = numberOf(from) - 1;
  const end = length === undefined ? text.length : start + numberOf(length);
  if (end < start) throw new RecordError(invalidConversion, "A length must not be negative.");
  return text.slice(Math.max(0, start), Math.max(0, end));
}
