import { arrowRow, arrowRows, arrowStart } from "./arrow-columns.ts";
import type { Field } from "./records.ts";
import type { Arrow, Serialization } from "./serialization.ts";
import { writeHeaders, writeRecord } from "./write-records.ts";

/** Results that wait to be sent, in the form the caller asked for. */
export interface ResultPage {
  /** Before all results. */
  readonly first: Uint8Array;
  /** About how long it is. */
  readonly units: number;
  write(fields: readonly Field[]): void;
  /** Its bytes, in as many parts as the service sends; it is empty afterwards. */
  takeParts(): readonly Uint8Array[];
}

const nothing = new Uint8Array(0);

export class TextPage implements ResultPage {
  readonly first = nothing;
  readonly #form: Serialization;
  /** The names of the columns, which the service sends by themselves. */
  #names = "";
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
    if (this.#headersDue && form.type === "delimited") this.#names = writeHeaders(fields, form);
    this.#headersDue = false;
    this.#text += writeRecord(fields, form);
  }

  takeParts(): readonly Uint8Array[] {
    const texts = this.#names === "" ? [this.#text] : [this.#names, this.#text];
    this.#names = "";
    this.#text = "";
    return texts.map((text) => new TextEncoder().encode(text));
  }
}

/** What a cell takes up besides its text. */
const cellUnits = 16;

/** Recorded: the schema is followed by a batch without rows, and nothing marks the end. */
export class ArrowPage implements ResultPage {
  readonly first: Uint8Array;
  units = 0;
  readonly #form: Arrow;
  #rows: unknown[][] = [];

  constructor(form: Arrow) {
    this.#form = form;
    this.first = Buffer.concat([arrowStart(form.columns), arrowRows(form.columns, [])]);
  }

  write(fields: readonly Field[]): void {
    const row = arrowRow(this.#form.columns, fields);
    this.#rows.push(row);
    for (const cell of row) this.units += cellUnits + (typeof cell === "string" ? cell.length : 0);
  }

  takeParts(): readonly Uint8Array[] {
    const bytes = arrowRows(this.#form.columns, this.#rows);
    this.#rows = [];
    this.units = 0;
    return [bytes];
  }
}
