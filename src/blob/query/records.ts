import type { Lookup } from "./evaluate.ts";

/** A record of the queried blob, from delimited text or JSON. */
export interface InputRecord {
  /** Length of its text; undefined for records that are not text. */
  readonly units?: number;
  /** Byte offset of the record in the blob. */
  readonly offset: number;
  readonly lookup: Lookup;
  /** All fields, for `SELECT *`. */
  readonly all: () => readonly Field[];
}

export interface Field {
  readonly name: string;
  readonly value: FieldValue;
}

export type FieldValue = string | number | boolean | bigint | null | object;

/** An error in one record. The record is skipped and the error reported in the result. */
export class RecordError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** An error that ends the query. */
export class FatalQueryError extends Error {
  override readonly name: string;
  readonly position: number;

  constructor(name: string, message: string, position: number) {
    super(message);
    this.name = name;
    this.position = position;
  }
}

/** Limit of this server for the length of a record. It bounds memory and the time of one event-loop
 *  iteration, in which a record is parsed. */
const recordUnitsMax = 1024 * 1024;
/** Limit of this server for the columns, members and elements of a record. */
const recordFieldsMax = 16_384;

export function checkRecordLength(units: number, offset: number): void {
  if (units > recordUnitsMax) throw tooLarge(offset);
}

/** Limit of this server for the work on one record, in units of text: each column that the query
 *  names may be compared with the whole text of the record. */
const comparedUnitsMax = 16 * 1024 * 1024;

export function checkComparedUnits(units: number, columns: number, offset: number): void {
  if (units * columns > comparedUnitsMax) throw tooLarge(offset);
}

export function checkRecordFields(fields: number, offset: number): void {
  if (fields > recordFieldsMax) throw tooLarge(offset);
}

/** The error for a record that takes more memory or time than this server permits. */
export function tooLarge(offset: number): FatalQueryError {
  return new FatalQueryError("RecordTooLarge", "A record is too large.", offset);
}

/** Does the same as `replaceAll` for two texts. For many matches the engine's search for a regular
 *  expression without special characters needs a tenth of the time and no garbage. */
export function replaceEach(text: string, from: string, to: string): string {
  const pattern = from.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
  return text.replaceAll(new RegExp(pattern, "g"), to.replaceAll("$", "$$$$"));
}
