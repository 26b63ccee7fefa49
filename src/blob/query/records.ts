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

/** More than this is no record; nothing longer is ever held. */
export const recordUnitsMax = 16 * 1024 * 1024;

export function checkRecordLength(units: number, offset: number): void {
  if (units <= recordUnitsMax) return;
  throw new FatalQueryError("RecordTooLarge", "A record is too large.", offset);
}
