import type { TypedValue } from "../edm/edm.ts";

export type Comparison = "eq" | "ne" | "gt" | "ge" | "lt" | "le";

export type Operand =
  | { readonly kind: "property"; readonly name: string }
  // `literal` is undefined for `null`.
  | { readonly kind: "literal"; readonly literal: TypedValue | undefined };

/** A parsed `$filter`. */
export type Filter =
  | { readonly kind: "and" | "or"; readonly left: Filter; readonly right: Filter }
  | { readonly kind: "not"; readonly inner: Filter }
  // A property or literal without a comparison: matches if its value is true.
  | { readonly kind: "value"; readonly operand: Operand }
  | {
      readonly kind: "compare";
      readonly comparison: Comparison;
      readonly left: Operand;
      readonly right: Operand;
    };
