import type { Lookup } from "./evaluate.ts";

/** One record of the queried blob, whatever form it came in. */
export interface InputRecord {
  /** Where it starts in the blob. */
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

/** A record that has to be left out; the query goes on without it. */
export class RecordError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** What ends a query before the end of the blob. */
export class FatalQueryError extends Error {
  override readonly name: string;
  readonly position: number;

  constructor(name: string, message: string, position: number) {
    super(message);
    this.name = name;
    this.position = position;
  }
}

/** More than this is no record; nothing longer is ever held. A record is read and written in one
 *  go, so that its length is what a query can hold the server up with. */
export const recordUnitsMax = 1024 * 1024;
/** Columns, members and elements. */
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
