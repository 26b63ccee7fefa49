import { arrowBatch, arrowSchema } from "../../encoding/arrow/stream.ts";
import { encodeColumn, type ColumnKind } from "../../encoding/arrow/columns.ts";
import { invalidXmlNode, missingXmlNode } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { ticksToUnixMilliseconds } from "../../base/ticks.ts";
import { xmlChild, xmlChildText, type XmlElement } from "../../encoding/xml.ts";
import { FatalQueryError, RecordError, type Field, type FieldValue } from "./records.ts";
import { cast, invalidConversion, numberOf, textOf } from "./values.ts";

/** Query results in Apache Arrow format, which a request of Query Blob Contents may ask for:
 *  `query-blob.ts` parses the requested columns with it, `result-pages.ts` encodes rows. */

/** A column of a query result in Arrow format, as the request declares it. */
export interface ArrowColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly precision: number;
  readonly scale: number;
}

const kinds: Readonly<Record<string, ColumnKind>> = {
  int64: "int64",
  bool: "boolean",
  "timestamp[ms]": "milliseconds",
  string: "text",
  double: "double",
  decimal: "decimal",
};
const columnsMax = 1024;
/** Most digits of a decimal column, which Arrow stores as a number of 128 bits. */
const digitsMax = 38;

export function parseArrowColumns(
  configuration: XmlElement | undefined,
): Result<readonly ArrowColumn[]> {
  const schema = configuration && xmlChild(configuration, "Schema");
  const fields = schema?.children.filter(({ name }) => name === "Field") ?? [];
  if (fields.length === 0) return missingXmlNode("Field");
  if (fields.length > columnsMax) return fail("OutOfRangeInput");
  const columns: ArrowColumn[] = [];
  for (const field of fields) {
    const column = parseColumn(field);
    if (!column.ok) return column;
    columns.push(column.value);
  }
  return ok(columns);
}

function parseColumn(field: XmlElement): Result<ArrowColumn> {
  const type = xmlChildText(field, "Type") ?? "";
  const lower = type.toLowerCase();
  const kind = Object.hasOwn(kinds, lower) ? kinds[lower] : undefined;
  if (kind === undefined) return invalidXmlNode("Type", type);
  const precision = numberIn(field, "Precision");
  const scale = numberIn(field, "Scale");
  if (kind === "decimal") {
    if (!(precision >= 1 && precision <= digitsMax)) {
      return invalidXmlNode("Precision", xmlChildText(field, "Precision") ?? "");
    }
    if (!(scale >= 0 && scale <= precision)) {
      return invalidXmlNode("Scale", xmlChildText(field, "Scale") ?? "");
    }
  }
  return ok({ name: xmlChildText(field, "Name") ?? "", kind, precision, scale });
}

function numberIn(field: XmlElement, name: string): number {
  const text = xmlChildText(field, name) ?? "0";
  return /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
}

export function arrowStart(columns: readonly ArrowColumn[]): Uint8Array {
  return arrowSchema(columns.map((column) => ({ ...column, nullable: true })));
}

/** Converts the cells of one result row to the types of the Arrow columns. */
export function arrowRow(columns: readonly ArrowColumn[], fields: readonly Field[]): unknown[] {
  if (fields.length !== columns.length) {
    const counts = `${fields.length} for ${columns.length}`;
    throw new FatalQueryError("InvalidSchema", `Results do not fit the schema: ${counts}.`, 0);
  }
  return columns.map((column, index) => cellOf(column, fields[index]?.value ?? null));
}

export function arrowRows(columns: readonly ArrowColumn[], rows: readonly unknown[][]): Uint8Array {
  const encoded = columns.map(({ kind }, index) =>
    encodeColumn(
      kind,
      rows.map((row) => row[index]),
    ),
  );
  return arrowBatch(rows.length, encoded);
}

function cellOf({ kind, precision, scale }: ArrowColumn, value: FieldValue): unknown {
  // An empty field of delimited text is null, except in a text column.
  if (value === null || (value === "" && kind !== "text")) return undefined;
  switch (kind) {
    case "int64":
      return wholeOf(value);
    case "double":
      return numberOf(value);
    case "boolean":
      return cast(value, "bool");
    case "milliseconds":
      return BigInt(ticksToUnixMilliseconds(cast(value, "timestamp") as bigint));
    case "decimal":
      return unscaled(value, precision, scale);
    default:
      return textOf(value);
  }
}

const int64Max = 2n ** 63n - 1n;

function wholeOf(value: FieldValue): bigint {
  const number = numberOf(value);
  if (!Number.isFinite(number)) throw notConvertible();
  const text = textOf(value).trim();
  const whole = /^[+-]?\d{1,20}$/.test(text) ? BigInt(text) : BigInt(Math.trunc(number));
  if (whole > int64Max || whole < -int64Max - 1n) throw notConvertible();
  return whole;
}

/** The digits of a decimal number without its point, as Arrow stores it. Recorded from Azure: a
 *  number without a point is read as digits that include the decimal places. */
function unscaled(value: FieldValue, precision: number, scale: number): bigint {
  const parts = /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/.exec(textOf(value));
  const [, sign = "", whole = "", fraction] = parts ?? [];
  if (parts === null || whole + (fraction ?? "") === "") throw notConvertible();
  const digits =
    fraction === undefined ? whole : whole + fraction.slice(0, scale).padEnd(scale, "0");
  const significant = digits.replace(/^0+/, "");
  if (significant.length > precision) throw notConvertible();
  const number = BigInt(significant);
  return sign === "-" ? -number : number;
}

function notConvertible(): RecordError {
  return new RecordError(invalidConversion, "Invalid type conversion.");
}
