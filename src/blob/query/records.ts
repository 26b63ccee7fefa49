import type { Lookup } from "./evaluate.ts";

/** A record of the queried blob, from delimited text or JSON. */
export interface InputRecord {
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

export function checkRecordFields(fields: number, offset: number): void {
  if (fields > recordFieldsMax) throw tooLarge(offset);
}

function tooLarge(offset: number): FatalQueryError {
  return new FatalQueryError("RecordTooLarge", "A record is too large.", offset);
}
