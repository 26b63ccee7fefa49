import type { Lookup } from "./evaluate.ts";

/** A record of the queried blob, from delimited text or JSON. */
export interface InputRecord {
  /** Byte offset in the blob. */
  readonly offset: number;
  readonly lookup: Lookup;
  /** For `SELECT *`. */
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

/** Maximum length of a record. Bounds memory, and the time of one event-loop iteration: a record is
 *  parsed in one. */
export const recordUnitsMax = 1024 * 1024;
/** Maximum columns, members and elements of a record. */
export const recordFieldsMax = 16_384;

export function checkRecordLength(units: number, offset: number): void {
  if (units > recordUnitsMax) throw tooLarge(offset);
}

export function checkRecordFields(fields: number, offset: number): void {
  if (fields > recordFieldsMax) throw tooLarge(offset);
}

function tooLarge(offset: number): FatalQueryError {
  return new FatalQueryError("RecordTooLarge", "A record is too large.", offset);
}
