import type { LoopShare } from "../../base/loop-share.ts";
import type { Delimited } from "./query-blob.ts";
import {
  checkRecordFields,
  checkRecordLength,
  FatalQueryError,
  RecordError,
  halveQuotes,
} from "./records.ts";
import type { Field, InputRecord } from "./records.ts";

/** Reads records of CSV and other delimited text for `run-query.ts`, chunk by chunk. */

/** Length in UTF-16 code units from which parsing a record pauses for other requests. */
const longRecordUnits = 64 * 1024;
/** Characters of a long record that cost one unit of event-loop time (`base/loop-share.ts`). */
const charactersPerUnit = 1024;
/** Cost of an empty record in units of event-loop time (about 10 µs): it yields no result, but
 *  finding it takes time. */
const unitsPerEmptyRecord = 0.1;

/** Reads the records of delimited text. Holds at most one chunk and one incomplete record in
 *  memory, because a blob may be larger than the memory. */
export async function* readDelimited(
  chunks: AsyncIterable<Uint8Array>,
  format: Delimited,
  loop: LoopShare,
): AsyncGenerator<InputRecord, void, undefined> {
  let names: ColumnNames | undefined;
  for await (const { text, offset } of readLines(chunks, format)) {
    checkRecordLength(text.length, offset);
    const isLong = text.length > longRecordUnits;
    // A long record is found, split and written in different iterations of the event loop.
    if (isLong) await loop.spend(text.length / charactersPerUnit);
    const fields = splitFields(text, format);
    if (isLong) await loop.spend(text.length / charactersPerUnit);
    checkRecordFields(fields.length, offset);
    if (format.headers && names === undefined) {
      names = columnNames(fields);
      continue;
    }
    if (text !== "") yield recordOf(fields, names, { offset, units: text.length });
    else {
      const wait = loop.spend(unitsPerEmptyRecord);
      if (wait !== undefined) await wait;
    }
  }
}

interface Line {
  readonly text: string;
  readonly offset: number;
}

async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  format: Delimited,
): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let pending = "";
  let offset = 0;
  let scanned = 0;
  const scan = new QuoteScan(format);
  for await (const chunk of chunks) {
    pending += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (;;) {
      const end = scan.recordEnd(pending, start, scanned);
      if (end < 0) break;
      const text = pending.slice(start, end);
      yield { text: withoutReturn(text, format), offset };
      offset += Buffer.byteLength(text) + Buffer.byteLength(format.recordSeparator);
      start = end + format.recordSeparator.length;
      scanned = start;
    }
    pending = pending.slice(start);
    scanned = scan.position - start;
    checkRecordLength(pending.length, offset);
  }
  pending += decoder.decode();
  if (pending !== "") yield { text: withoutReturn(pending, format), offset };
}

/** Finds the record separators of delimited text that are outside quotes. Resumes where it stopped
 *  when more text arrives. */
class QuoteScan {
  readonly #format: Delimited;
  #quoted = false;
  position = 0;

  constructor(format: Delimited) {
    this.#format = format;
  }

  recordEnd(text: string, start: number, from: number): number {
    const { quote, escape, recordSeparator } = this.#format;
    let at = Math.max(start, from);
    // The end of the text may be an incomplete separator: it is scanned again with the next chunk.
    const last = text.length - recordSeparator.length;
    for (; at <= last; at += 1) {
      const character = text[at];
      if (escape !== "" && escape !== quote && character === escape) at += 1;
      else if (quote !== "" && character === quote) this.#quoted = !this.#quoted;
      else if (!this.#quoted && text.startsWith(recordSeparator, at)) {
        this.position = at;
        return at;
      }
    }
    this.position = Math.max(at, start);
    return -1;
  }
}

/** Removes `\r` at the end of a record: with separator `\n`, records may end with `\r\n`. */
function withoutReturn(text: string, { recordSeparator }: Delimited): string {
  return recordSeparator === "\n" && text.endsWith("\r") ? text.slice(0, -1) : text;
}

function splitFields(text: string, format: Delimited): readonly string[] {
  const { columnSeparator, quote, escape } = format;
  const plain =
    (quote === "" || !text.includes(quote)) && (escape === "" || !text.includes(escape));
  if (plain) return text.split(columnSeparator);
  const fields: string[] = [];
  let field = "";
  let quoted = false;
  const isPlainQuoting = escape === "" || escape === quote;
  /** Start of the characters that are not yet appended to `field`. They are appended in runs, which
   *  is faster than one by one. */
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (escape !== "" && character === escape && escape !== quote) {
      field += text.slice(from, at);
      at += 1;
      from = at;
    } else if (quote !== "" && character === quote && !quoted && isPlainQuoting) {
      const close = closingQuote(text, quote, at);
      const inside = text.slice(at + 1, close);
      field += text.slice(from, at) + halveQuotes(inside, quote);
      at = close;
      from = at + 1;
    } else if (quote !== "" && character === quote) {
      const doubled = quoted && text[at + 1] === quote;
      field += text.slice(from, doubled ? at + 1 : at);
      if (doubled) at += 1;
      else quoted = !quoted;
      from = at + 1;
    } else if (!quoted && text.startsWith(columnSeparator, at)) {
      fields.push(field + text.slice(from, at));
      field = "";
      at += columnSeparator.length - 1;
      from = at + 1;
    }
  }
  fields.push(field + text.slice(from));
  return fields;
}

/** Offset of the quotation mark that closes the one at `open`; a doubled quotation mark is text. */
function closingQuote(text: string, quote: string, open: number): number {
  let at = text.indexOf(quote, open + 1);
  while (at >= 0 && text[at + 1] === quote) at = text.indexOf(quote, at + 2);
  return at < 0 ? text.length : at;
}

/** The column names of delimited text with a header line. */
interface ColumnNames {
  readonly list: readonly string[];
  /** Index of the first column of each name, by the name in lower case. */
  readonly indexes: ReadonlyMap<string, number>;
}

function columnNames(list: readonly string[]): ColumnNames {
  const indexes = new Map<string, number>();
  for (const [index, name] of list.entries()) {
    const lower = name.toLowerCase();
    if (!indexes.has(lower)) indexes.set(lower, index);
  }
  return { list, indexes };
}

function recordOf(
  fields: readonly string[],
  names: ColumnNames | undefined,
  { offset, units }: { readonly offset: number; readonly units: number },
): InputRecord {
  return {
    offset,
    units,
    lookup: ([name]) => {
      const index = columnOf(String(name), names, offset);
      // Recorded from Azure: the message says ordinal 0 if the query gives the column by name.
      return fieldAt(fields, index, isOrdinal(String(name)) ? index : 0);
    },
    all: () =>
      fields.map((value, index): Field => ({ name: names?.list[index] ?? `_${index + 1}`, value })),
  };
}

function fieldAt(fields: readonly string[], index: number, ordinal: number): string {
  const field = fields[index];
  if (field !== undefined) return field;
  const message = `Column ordinal ${ordinal} does not exist in row.`;
  throw new RecordError("InvalidColumnOrdinal", message);
}

const ordinalForm = /^_([1-9]\d{0,5})$/;

/** The index of a column that a query names. `_1` is the first column, also if it has a name. Names
 *  are case-insensitive. */
function columnOf(name: string, names: ColumnNames | undefined, offset: number): number {
  const named = names?.indexes.get(name.toLowerCase());
  if (named !== undefined) return named;
  const ordinal = ordinalForm.exec(name)?.[1];
  if (ordinal !== undefined) return Number(ordinal) - 1;
  throw new FatalQueryError("InvalidColumnName", `There is no column '${name}'.`, offset);
}

export function isOrdinal(name: string): boolean {
  return ordinalForm.test(name);
}
