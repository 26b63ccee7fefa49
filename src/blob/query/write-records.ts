import { formatIso } from "../../base/dates.ts";
import type { Field, FieldValue } from "./records.ts";
import type { Delimited, Serialization } from "./serialization.ts";

/** Formats one result, followed by the record separator. */
export function writeRecord(fields: readonly Field[], format: Serialization): string {
  if (format.type === "json") return writeJson(fields) + format.recordSeparator;
  return (
    fields.map(({ value }) => writeField(value, format)).join(format.columnSeparator) +
    format.recordSeparator
  );
}

export function writeHeaders(fields: readonly Field[], format: Delimited): string {
  const names = fields.map(({ name }) => writeField(name, format));
  return names.join(format.columnSeparator) + format.recordSeparator;
}

/** A JSON object without the null values. */
function writeJson(fields: readonly Field[]): string {
  const parts: string[] = [];
  for (const { name, value } of fields) {
    if (value !== null) parts.push(`${JSON.stringify(name)}:${jsonOf(value)}`);
  }
  return `{${parts.join(",")}}`;
}

function jsonOf(value: FieldValue): string {
  return typeof value === "bigint" ? JSON.stringify(formatIso(value)) : JSON.stringify(value);
}

function writeField(value: FieldValue, format: Delimited): string {
  const text = plainText(value);
  const { quote, columnSeparator, recordSeparator } = format;
  if (quote === "") return text;
  const needsQuotes =
    text.includes(columnSeparator) || text.includes(recordSeparator) || text.includes(quote);
  return needsQuotes ? quote + text.replaceAll(quote, quote + quote) + quote : text;
}

function plainText(value: FieldValue): string {
  if (value === null) return "";
  if (typeof value === "bigint") return formatIso(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
