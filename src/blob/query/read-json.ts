import type { FieldValue } from "./records.ts";
import { checkRecordFields, checkRecordLength, FatalQueryError } from "./records.ts";
import type { Field, InputRecord } from "./records.ts";
import { unexpectedToken, ValueScan } from "./value-scan.ts";

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
      yield recordOf(record, offset);
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
    // Recorded with a space at the end.
    const expected = isName ? " Expecting token '\"'. " : "";
    const message = `Unexpected token '${text[at] ?? ""}' at [byte: ${offset + at}].${expected}`;
    throw new FatalQueryError("ParseError", message, offset);
  }
}

/** Follows the path of FROM. The elements of a top-level array are records; `[*]` iterates over an
 *  array below. */
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

function recordOf(value: unknown, offset: number): InputRecord {
  return {
    offset,
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
