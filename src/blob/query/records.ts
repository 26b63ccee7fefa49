import type { Lookup } from "./evaluate.ts";

/** Records and errors of a query, and the limits of memory and time for a record. */

/** A record of the queried blob, from delimited text, JSON or Parquet. `read-*.ts` return them,
 *  `run-query.ts` filters them. */
export interface InputRecord {
  /** Length of the record's text in UTF-16 code units; undefined for Parquet. */
  readonly units?: number;
  /** Byte offset of the record in the blob. */
  readonly offset: number;
  readonly lookup: Lookup;
  /** All fields of the record, for `SELECT *`. */
  readonly all: () => readonly Field[];
}

export interface Field {
  readonly name: string;
  readonly value: FieldValue;
}

export type FieldValue = string | number | boolean | bigint | null | object;

/** An error in one record, for example in a conversion. The record is skipped and the error
 *  reported in the result. */
export class RecordError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** An error that ends the query; a `RecordError` skips one record. It is the last entry of the
 *  response, with `position`: the offset in the blob, in bytes. */
export class FatalQueryError extends Error {
  override readonly name: string;
  readonly position: number;

  constructor(name: string, message: string, position: number) {
    super(message);
    this.name = name;
    this.position = position;
  }
}

/** Longest record that this server reads, in UTF-16 code units. Bounds the memory, and the time of
 *  the event-loop iteration in which a record is parsed. */
const recordUnitsMax = 1024 * 1024;
/** Most columns, members and elements of a record, which take more memory than their text. */
const recordFieldsMax = 16_384;

export function checkRecordLength(units: number, offset: number): void {
  if (units > recordUnitsMax) throw tooLarge(offset);
}

/** Most UTF-16 code units that a query compares in one record: each column that it names may be
 *  compared with the whole text of the record. */
const comparedUnitsMax = 16 * 1024 * 1024;

export function checkComparedUnits(units: number, columns: number, offset: number): void {
  if (units * columns > comparedUnitsMax) throw tooLarge(offset);
}

export function checkRecordFields(fields: number, offset: number): void {
  if (fields > recordFieldsMax) throw tooLarge(offset);
}

/** The error that ends a query at a record that takes too much memory or time. */
export function tooLarge(offset: number): FatalQueryError {
  return new FatalQueryError("RecordTooLarge", "A record is too large.", offset);
}

/** Length from which quotation marks are doubled or halved unit by unit: for half a million of them
 *  `replaceAll` takes ten times as long, most of it for garbage collection. */
const longTextUnits = 4096;

export function doubleQuotes(text: string, quote: string): string {
  if (text.length <= longTextUnits || quote.length !== 1) {
    return text.replaceAll(quote, () => quote + quote);
  }
  const code = quote.charCodeAt(0);
  const units = new Uint16Array(2 * text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    units[length] = unit;
    length += 1;
    if (unit !== code) continue;
    units[length] = code;
    length += 1;
  }
  return textOfUnits(units, length);
}

export function halveQuotes(text: string, quote: string): string {
  if (text.length <= longTextUnits || quote.length !== 1) {
    return text.replaceAll(quote + quote, () => quote);
  }
  const code = quote.charCodeAt(0);
  const units = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    units[length] = unit;
    length += 1;
    if (unit === code && text.charCodeAt(at + 1) === code) at += 1;
  }
  return textOfUnits(units, length);
}

function textOfUnits({ buffer }: Uint16Array<ArrayBuffer>, length: number): string {
  return Buffer.from(buffer, 0, 2 * length).toString("utf16le");
}
