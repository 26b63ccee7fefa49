import type { FieldValue } from "./records.ts";
import { checkRecordLength, FatalQueryError, type Field, type InputRecord } from "./records.ts";

/** JSON values one after the other, with or without anything between them. */
export async function* readJson(
  chunks: AsyncIterable<Uint8Array>,
  from: readonly string[],
): AsyncGenerator<InputRecord, void, undefined> {
  for await (const { text, offset } of readValues(chunks)) {
    const value = parseValue(text, offset);
    for (const below of open(value, from)) yield recordOf(below, offset);
  }
}

interface ValueText {
  readonly text: string;
  readonly offset: number;
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
      yield { text, offset };
      offset += Buffer.byteLength(text);
      start = found.to;
    }
    pending = pending.slice(start);
    scan.shift(start);
    checkRecordLength(pending.length, offset);
  }
  pending += decoder.decode();
  if (pending.trim() !== "") throw unexpected("end of input", Buffer.byteLength(pending), offset);
}

const between = /\s|,/;

/** Where the next value starts and ends; remembers how far it looked while the end is missing. */
class ValueScan {
  #at = 0;
  #from = -1;
  #depth = 0;
  #quoted = false;

  next(text: string, start: number, offset: number): { from: number; to: number } | undefined {
    if (this.#from < 0) this.#at = Math.max(this.#at, start);
    for (; this.#at < text.length; this.#at += 1) {
      const character = text[this.#at]!;
      if (this.#from < 0) {
        if (between.test(character)) continue;
        if (character !== "{" && character !== "[") {
          throw unexpected(character, this.#at - start, offset);
        }
        this.#from = this.#at;
      }
      if (!this.#step(character)) continue;
      const found = { from: this.#from, to: this.#at + 1 };
      this.#from = -1;
      this.#at += 1;
      return found;
    }
    return undefined;
  }

  /** The text in front of `start` was taken away. */
  shift(start: number): void {
    this.#at = Math.max(0, this.#at - start);
    if (this.#from >= 0) this.#from -= start;
  }

  /** Whether this character closes the value. */
  #step(character: string): boolean {
    if (this.#quoted) {
      if (character === "\\") this.#at += 1;
      else if (character === '"') this.#quoted = false;
      return false;
    }
    if (character === '"') this.#quoted = true;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") this.#depth -= 1;
    return this.#depth === 0;
  }
}

function unexpected(token: string, byte: number, offset: number): FatalQueryError {
  const place = `Unexpected token '${token}' at [byte: ${offset + byte}].`;
  const message = `${place} Expecting tokens '{', or '['.`;
  return new FatalQueryError("ParseError", message, offset);
}

function parseValue(text: string, offset: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = Number(/position (\d+)/.exec(String(error))?.[1] ?? 0);
    const message = `Unexpected token '${text[at] ?? ""}' at [byte: ${offset + at}].`;
    throw new FatalQueryError("ParseError", message, offset);
  }
}

/** A top-level array holds records, and `[*]` opens those below. */
function* open(value: unknown, from: readonly string[]): Generator<unknown, void, undefined> {
  const [step, ...rest] = from;
  if (Array.isArray(value) && (step === undefined || step !== "*")) {
    for (const one of value) yield* open(one, from);
  } else if (step === undefined) {
    yield value;
  } else if (step === "*") {
    if (Array.isArray(value)) for (const one of value) yield* open(one, rest);
    else yield* open(value, rest);
  } else {
    const below = property(value, step);
    if (below !== undefined) yield* open(below, rest);
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
