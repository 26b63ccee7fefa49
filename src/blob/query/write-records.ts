import { formatIso } from "../../base/dates.ts";
import type { Field, FieldValue } from "./records.ts";
import type { Delimited, Serialization } from "./serialization.ts";

/** One result as text, in the form the caller asked for. */
export function writeRecord(fields: readonly Field[], form: Serialization): string {
  if (form.type === "json") return writeJson(fields) + form.recordSeparator;
  return (
    fields.map(({ value }) => writeField(value, form)).join(form.columnSeparator) +
    form.recordSeparator
  );
}

export function writeHeaders(fields: readonly Field[], form: Delimited): string {
  const names = fields.map(({ name }) => writeField(name, form));
  return names.join(form.columnSeparator) + form.recordSeparator;
}

/** Values that are absent are left out. */
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

function writeField(value: FieldValue, form: Delimited): string {
  const text = plainText(value);
  const { quote, columnSeparator, recordSeparator } = form;
  if (quote === "") return text;
  const risky =
    text.includes(columnSeparator) || text.includes(recordSeparator) || text.includes(quote);
  return risky ? quote + text.replaceAll(quote, quote + quote) + quote : text;
}

function plainText(value: FieldValue): string {
  if (value === null) return "";
  if (typeof value === "bigint") return formatIso(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
