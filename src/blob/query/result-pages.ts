import { arrowRow, arrowRows, arrowStart } from "./arrow-columns.ts";
import type { Field } from "./records.ts";
import type { Arrow, Serialization } from "./serialization.ts";
import { writeHeaders, writeRecord } from "./write-records.ts";

/** Buffer of results in the requested format. */
export interface ResultPage {
  /** Bytes that precede all results. */
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
  /** The header line, which the service sends in a record of its own. */
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

/** Estimated size of a cell without its text. */
const cellUnits = 16;

/** Recorded: a batch without rows follows the schema, and there is no end-of-stream marker. */
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
