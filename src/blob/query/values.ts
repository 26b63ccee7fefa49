import { parseIso } from "../../base/dates.ts";
import { RecordError } from "./records.ts";
import type { CastType } from "./evaluate.ts";

/** Conversions between the types of values in a query, for `evaluate.ts` and for the results. */

/** A value in a record or of an expression. Timestamps are ticks (100 ns). JSON objects and arrays
 *  can be returned, but not compared. */
export type SqlValue = string | number | boolean | bigint | null | object;

/** Name, in the result, of the error for a value that cannot be converted. */
export const invalidConversion = "InvalidTypeConversion";

const numberForm = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

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
