import type { LikePattern } from "./like-pattern.ts";

/** The syntax tree of a query. */

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
const arithmetics = ["+", "-", "*", "/", "%", "^", "&", "|"] as const;
export type Comparison = (typeof comparisons)[number];
export type Arithmetic = (typeof arithmetics)[number];
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
  /** Path to the records in JSON input, after `BlobStorage`; `*` iterates over an array. */
  readonly from: readonly string[];
  readonly where: Expression | undefined;
  readonly limit: number | undefined;
}
