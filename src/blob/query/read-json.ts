import {
  checkRecordFields,
  checkRecordLength,
  FatalQueryError,
  type Field,
  type FieldValue,
  type InputRecord,
} from "./records.ts";

/** Reads JSON records for `run-query.ts`, chunk by chunk: a blob may be larger than the memory. */

/** Reads consecutive JSON objects and arrays, separated by whitespace, commas or nothing. A
 *  top-level array is read element by element, so that it is never in memory as a whole. */
export async function* readJson(
  chunks: AsyncIterable<Uint8Array>,
  from: readonly string[],
): AsyncGenerator<InputRecord, void, undefined> {
  const [step, ...rest] = from;
  const inArray = step === "*" ? rest : from;
  for await (const { text, offset, isElement } of readValues(chunks)) {
    const value = parseValue(text, offset);
    for (const record of selectRecords(value, isElement ? inArray : from))
      yield recordOf(record, offset, text.length);
  }
}

interface ValueText {
  readonly text: string;
  readonly offset: number;
  readonly isElement: boolean;
}

async function* readValues(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ValueText, void, undefined> {
  const decoder = new TextDecoder("utf-8");
  const scan = new ValueScan();
  let pending = "";
  let offset = 0;
  for await (const chunk of chunks) {
    pending += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (;;) {
      const found = scan.next(pending, start, offset);
      if (found === undefined) break;
      offset += Buffer.byteLength(pending.slice(start, found.from));
      const text = pending.slice(found.from, found.to);
      checkRecordLength(text.length, offset);
      checkRecordFields(found.fields, offset);
      yield { text, offset, isElement: found.isElement };
      offset += Buffer.byteLength(text);
      start = found.to;
    }
    pending = pending.slice(start);
    scan.shift(start);
    checkRecordLength(pending.length, offset);
  }
  if (decoder.decode() !== "" || scan.isInside || scan.isOpen) {
    throw unexpectedToken("end of input", Buffer.byteLength(pending), offset);
  }
}

function parseValue(text: string, offset: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = Number(/position (\d+)/.exec(String(error))?.[1] ?? 0);
    const isName = text.slice(0, at).trimEnd().endsWith("{");
    // As recorded from Azure, the message has a space at the end.
    const expected = isName ? " Expecting token '\"'. " : "";
    const message = `Unexpected token '${text[at] ?? ""}' at [byte: ${offset + at}].${expected}`;
    throw new FatalQueryError("ParseError", message, offset);
  }
}

/** The records in a JSON value: follows the path in FROM of the query. The elements of a top-level
 *  array are records; `[*]` iterates over an array below. */
function* selectRecords(
  value: unknown,
  from: readonly string[],
): Generator<unknown, void, undefined> {
  const [step, ...rest] = from;
  if (Array.isArray(value) && (step === undefined || step !== "*")) {
    for (const one of value) yield* selectRecords(one, from);
  } else if (step === undefined) {
    yield value;
  } else if (step === "*") {
    if (Array.isArray(value)) for (const one of value) yield* selectRecords(one, rest);
    else yield* selectRecords(value, rest);
  } else {
    const record = property(value, step);
    if (record !== undefined) yield* selectRecords(record, rest);
  }
}

function recordOf(value: unknown, offset: number, units: number): InputRecord {
  return {
    offset,
    units,
    lookup: (path) => {
      let found: unknown = value;
      for (const step of path) found = property(found, step);
      return found ?? null;
    },
    all: () => fieldsOf(value),
  };
}

function fieldsOf(value: unknown): readonly Field[] {
  if (typeof value !== "object" || value === null) {
    return [{ name: "_1", value: value ?? null }];
  }
  return Object.entries(value).map(([name, one]) => ({ name, value: (one ?? null) as FieldValue }));
}

function property(value: unknown, step: string | number): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Object.hasOwn(value, step)) return undefined;
  return (value as Record<string | number, unknown>)[step];
}

/** Deepest nesting of arrays and objects in a queried JSON value, so that parsing does not overflow
 *  the stack; beyond it the query fails. */
const depthMax = 256;
const between = /[\s,]/;
const endOfScalar = /[\s,\]]/;
const numberForm = /^-?\d[\d.eE+-]*/;

interface FoundValue {
  readonly from: number;
  readonly to: number;
  /** Whether the value is an element of a top-level array. */
  readonly isElement: boolean;
  /** Approximate number of members and elements in the value, which is limited
   *  (`checkRecordFields`). */
  readonly fields: number;
}

/** Finds the next JSON value in a text. Resumes where it stopped when more text arrives. */
class ValueScan {
  #at = 0;
  #from = -1;
  #depth = 0;
  #fields = 0;
  #quoted = false;
  #isScalar = false;
  /** Whether the scan is inside a top-level array, whose elements are records of their own. */
  isInside = false;

  /** Whether the text ends inside a value, so that more must be read. */
  get isOpen(): boolean {
    return this.#from >= 0;
  }

  next(text: string, start: number, offset: number): FoundValue | undefined {
    if (this.#from < 0) this.#at = Math.max(this.#at, start);
    for (; this.#at < text.length; this.#at += 1) {
      const character = text[this.#at]!;
      if (this.#from < 0 && !this.#begin(text, start, offset)) continue;
      if (!this.#step(character, offset)) continue;
      return this.#take(this.#isScalar && !this.#quoted ? this.#at : this.#at + 1);
    }
    return undefined;
  }

  /** Moves the offsets of the scan after the caller has removed the text before `start`. */
  shift(start: number): void {
    this.#at = Math.max(0, this.#at - start);
    if (this.#from >= 0) this.#from -= start;
  }

  /** Whether a value begins with the current character; starts scanning it. */
  #begin(text: string, start: number, offset: number): boolean {
    const character = text[this.#at]!;
    if (between.test(character)) return false;
    if (this.isInside && character === "]") {
      this.isInside = false;
      return false;
    }
    const opens = character === "{" || character === "[";
    if (!this.isInside && character === "[") {
      this.isInside = true;
      return false;
    }
    if (!this.isInside && !opens) {
      // Recorded from Azure: a number is read as a whole, and the character after it is the
      // unexpected one.
      const at = this.#at + (numberForm.exec(text.slice(this.#at))?.[0].length ?? 0);
      throw unexpectedToken(text[at] ?? character, at - start, offset);
    }
    this.#from = this.#at;
    this.#fields = 0;
    this.#isScalar = !opens;
    return true;
  }

  #take(to: number): FoundValue {
    const found = { from: this.#from, to, isElement: this.isInside, fields: this.#fields };
    this.#from = -1;
    this.#at = to;
    return found;
  }

  /** Whether this character closes the value, or follows it if it has no brackets. */
  #step(character: string, offset: number): boolean {
    if (this.#quoted) {
      if (character === "\\") this.#at += 1;
      else if (character === '"') this.#quoted = false;
      return false;
    }
    if (this.#isScalar && endOfScalar.test(character)) return true;
    if (character === '"') this.#quoted = true;
    else if (character === ",") this.#fields += 1;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") this.#depth -= 1;
    if (this.#depth > depthMax) throw unexpectedToken(character, this.#at - this.#from, offset);
    return !this.#isScalar && this.#depth === 0;
  }
}

function unexpectedToken(token: string, byte: number, offset: number): FatalQueryError {
  const where = `Unexpected token '${token}' at [byte: ${offset + byte}].`;
  const message = `${where} Expecting tokens '{', or '['.`;
  return new FatalQueryError("ParseError", message, offset);
}
