import { invalidConversion, numberOf, textOf, type SqlValue } from "./values.ts";
import { RecordError } from "./records.ts";
import type { ScalarName } from "./sql-tree.ts";

export function callScalar(name: ScalarName, given: readonly SqlValue[]): SqlValue {
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

/** Positions start at 1. Positions outside the text are ignored. */
function substring(text: string, from: SqlValue, length: SqlValue | undefined): SqlValue {
  if (from === null || length === null) return null;
  const start = numberOf(from) - 1;
  const end = length === undefined ? text.length : start + numberOf(length);
  if (end < start) throw new RecordError(invalidConversion, "A length must not be negative.");
  return text.slice(Math.max(0, start), Math.max(0, end));
}
