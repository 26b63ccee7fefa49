import { endOfArrowStream } from "../../core/arrow/stream.ts";
import { arrowRow, arrowRows, arrowStart } from "./arrow-columns.ts";
import type { Field } from "./records.ts";
import type { Arrow, Serialization } from "./serialization.ts";
import { writeHeaders, writeRecord } from "./write-records.ts";

/** Results that wait to be sent, in the form the caller asked for. */
export interface ResultPage {
  /** Before all results, and behind them. */
  readonly first: Uint8Array;
  readonly last: Uint8Array;
  /** About how long it is. */
  readonly units: number;
  write(fields: readonly Field[]): void;
  /** Its bytes; it is empty afterwards. */
  taken(): Uint8Array;
}

const nothing = new Uint8Array(0);

export class TextPage implements ResultPage {
  readonly first = nothing;
  readonly last = nothing;
  readonly #form: Serialization;
  #text = "";
  #headersDue: boolean;

  constructor(form: Serialization) {
    this.#form = form;
    this.#headersDue = form.type === "delimited" && form.headers;
  }

  get units(): number {
    return this.#text.length;
  }

  write(fields: readonly Field[]): void {
    const form = this.#form;
    if (this.#headersDue && form.type === "delimited") this.#text += writeHeaders(fields, form);
    this.#headersDue = false;
    this.#text += writeRecord(fields, form);
  }

  taken(): Uint8Array {
    const bytes = new TextEncoder().encode(this.#text);
    this.#text = "";
    return bytes;
  }
}

/** What a cell takes up besides its text. */
const cellUnits = 16;

export class ArrowPage implements ResultPage {
  readonly first: Uint8Array;
  readonly last = endOfArrowStream;
  units = 0;
  readonly #form: Arrow;
  #rows: unknown[][] = [];

  constructor(form: Arrow) {
    this.#form = form;
    this.first = arrowStart(form.columns);
  }

  write(fields: readonly Field[]): void {
    const row = arrowRow(this.#form.columns, fields);
    this.#rows.push(row);
    for (const cell of row) this.units += cellUnits + (typeof cell === "string" ? cell.length : 0);
  }

  taken(): Uint8Array {
    const bytes = arrowRows(this.#form.columns, this.#rows);
    this.#rows = [];
    this.units = 0;
    return bytes;
  }
}
