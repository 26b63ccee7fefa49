import { arrowRow, arrowRows, arrowStart } from "./arrow-columns.ts";
import { doubleQuotes, type Field, type FieldValue } from "./records.ts";
import type { Arrow, Delimited, Serialization } from "./query-blob.ts";
import { formatIso } from "../../base/dates.ts";
import { AvroEncoder, avroBlock, avroHeader } from "../../encoding/avro.ts";

/** Formats of query results (delimited text, JSON, Arrow) and their Avro envelope, for
 *  `run-query.ts`. */

/** Formats one result row as JSON or delimited text, followed by the record separator. */
export function writeRecord(fields: readonly Field[], format: Serialization): string {
  if (format.type === "json") return writeJson(fields) + format.recordSeparator;
  return (
    fields.map(({ value }) => writeField(value, format)).join(format.columnSeparator) +
    format.recordSeparator
  );
}

function writeHeaders(fields: readonly Field[], format: Delimited): string {
  const names = fields.map(({ name }) => writeField(name, format));
  return names.join(format.columnSeparator) + format.recordSeparator;
}

/** Formats a result row as a JSON object. Null values are left out. */
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
  return needsQuotes ? quote + doubleQuotes(text, quote) + quote : text;
}

function plainText(value: FieldValue): string {
  if (value === null) return "";
  if (typeof value === "bigint") return formatIso(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The Avro schema of the response: an object container with results, errors and progress. */
const namespace = "com.microsoft.azure.storage.queryBlobContents";

const long = (name: string) => ({ name, type: "long" });
const string = (name: string) => ({ name, type: "string" });
const record = (name: string, ...fields: readonly object[]) => ({
  type: "record",
  name: `${namespace}.${name}`,
  fields,
});

const schema = JSON.stringify([
  record("resultData", { name: "data", type: "bytes" }),
  record(
    "error",
    { name: "fatal", type: "boolean" },
    string("name"),
    string("description"),
    long("position"),
  ),
  record("progress", long("bytesScanned"), long("totalBytes")),
  record("end", long("totalBytes")),
]);

export interface QueryError {
  readonly fatal: boolean;
  readonly name: string;
  readonly description: string;
  readonly position: number;
}

/** Writes the response of a query, an Avro object container: each record is a block of its own. */
export class AvroWriter {
  readonly #marker: Uint8Array;
  readonly #encoder = new AvroEncoder();

  constructor(marker: Uint8Array) {
    this.#marker = marker;
  }

  header(): Uint8Array {
    return avroHeader({ "avro.schema": schema }, this.#marker);
  }

  data(bytes: Uint8Array): Uint8Array {
    return this.#block(0, (encoder) => encoder.bytes(bytes));
  }

  error({ fatal, name, description, position }: QueryError): Uint8Array {
    return this.#block(1, (encoder) => {
      encoder.boolean(fatal);
      encoder.text(name);
      encoder.text(description);
      encoder.long(position);
    });
  }

  progress(bytesScanned: number, totalBytes: number): Uint8Array {
    return this.#block(2, (encoder) => {
      encoder.long(bytesScanned);
      encoder.long(totalBytes);
    });
  }

  end(totalBytes: number): Uint8Array {
    return this.#block(3, (encoder) => encoder.long(totalBytes));
  }

  /** Writes an Avro block of one record; `branch` is the index of its type (results, error,
   *  progress, end) in the schema. */
  #block(branch: number, encode: (encoder: AvroEncoder) => void): Uint8Array {
    this.#encoder.long(branch);
    encode(this.#encoder);
    return avroBlock(1, this.#encoder.take(), this.#marker);
  }
}

/** Buffers query results in the requested format until a page is long enough to be sent. */
export interface ResultPage {
  /** Bytes before all results (for Arrow, the schema); may be empty. */
  readonly first: Uint8Array;
  /** Approximate length of the buffered results, in characters. */
  readonly units: number;
  write(fields: readonly Field[]): void;
  /** Returns the buffered bytes and clears the buffer. Each returned part becomes one record of the
   *  response. */
  takeParts(): readonly Uint8Array[];
}

const noBytes = new Uint8Array(0);

export class TextPage implements ResultPage {
  readonly first = noBytes;
  readonly #format: Serialization;
  /** The header line, which Azure sends in a separate record. */
  #names = "";
  #text = "";
  #headersDue: boolean;

  constructor(format: Serialization) {
    this.#format = format;
    this.#headersDue = format.type === "delimited" && format.headers;
  }

  get units(): number {
    return this.#text.length;
  }

  write(fields: readonly Field[]): void {
    const format = this.#format;
    if (this.#headersDue && format.type === "delimited") this.#names = writeHeaders(fields, format);
    this.#headersDue = false;
    this.#text += writeRecord(fields, format);
  }

  takeParts(): readonly Uint8Array[] {
    const texts = this.#names === "" ? [this.#text] : [this.#names, this.#text];
    this.#names = "";
    this.#text = "";
    return texts.map((text) => new TextEncoder().encode(text));
  }
}

/** Estimated size of an Arrow cell besides its text, in characters: counts towards the length at
 *  which a page is sent. */
const cellUnits = 16;

/** Buffers results in Arrow format until a page is sent. Recorded from Azure: a batch without rows
 *  follows the schema, and there is no end-of-stream marker. */
export class ArrowPage implements ResultPage {
  readonly first: Uint8Array;
  units = 0;
  readonly #format: Arrow;
  #rows: unknown[][] = [];

  constructor(format: Arrow) {
    this.#format = format;
    this.first = Buffer.concat([arrowStart(format.columns), arrowRows(format.columns, [])]);
  }

  write(fields: readonly Field[]): void {
    const row = arrowRow(this.#format.columns, fields);
    this.#rows.push(row);
    for (const cell of row) this.units += cellUnits + (typeof cell === "string" ? cell.length : 0);
  }

  takeParts(): readonly Uint8Array[] {
    const bytes = arrowRows(this.#format.columns, this.#rows);
    this.#rows = [];
    this.units = 0;
    return [bytes];
  }
}
