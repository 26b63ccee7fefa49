import { invalidHeader, invalidQuery, missingHeader, missingQuery, withSubject } from "./faults.ts";
import { ok, type Result } from "./result.ts";

/** Declarations of parameters in headers and in the query: an operation lists them, the pipeline
 *  parses them into typed input and returns the first fault. */

/** The parts of a request that parameter parsers read. Names of headers and query parameters are
 *  passed in lower case. */
export interface ParamReader {
  /** The x-ms-version of the request. */
  readonly version: string;
  header(lowerName: string): string | undefined;
  query(lowerName: string): string | undefined;
  /** Headers whose lower-case name starts with `prefix`, with the client's spelling of names. */
  headersWith(prefix: string): readonly (readonly [name: string, value: string])[];
}

/** A typed input of an operation, parsed from headers and query parameters. `sources` names these,
 *  for documents and tests; a query parameter starts with `?`. */
export interface Param<T> {
  readonly sources: readonly string[];
  readonly parse: (reader: ParamReader) => Result<T>;
  /** The parameter sets tags, which requires a permission beside that of the operation. */
  readonly setsTags?: true;
  /** What the server itself reads the value for, outside `decide`. */
  readonly role?: ParamRole;
}

/** `encryption`: how content is encrypted (`protocol/encryption.ts`). `entry-name` and
 *  `source-start`: names that decide which path a rename is about (`blob/dfs/params.ts`). */
export type ParamRole = "encryption" | "entry-name" | "source-start";

/** The parameters of an operation, by the fields of its input that have their values. */
export type Params = Readonly<Record<string, Param<unknown>>>;

/** The type of the input of an operation: the parsed values of its parameters. */
export type InputOf<P extends Params> = {
  readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never;
};

/** Parses the text of one header or query parameter. Undefined: malformed. */
export type TextParser<T> = (text: string) => T | undefined;

const absent = ok(undefined);

/** A parameter in a header; undefined if the header is absent or empty. */
export function header<T>(name: string, parse: TextParser<T>): Param<T | undefined> {
  const lowerName = name.toLowerCase();
  return {
    sources: [name],
    parse: (reader) => {
      const text = reader.header(lowerName);
      if (text === undefined || text === "") return absent;
      const value = parse(text);
      return value === undefined ? invalidHeader(name, text) : ok(value);
    },
  };
}

/** A parameter in the query; undefined if it is absent or empty. `reason` is sent with the fault of
 *  a malformed value. */
export function query<T>(
  name: string,
  parse: TextParser<T>,
  reason?: string,
): Param<T | undefined> {
  const lowerName = name.toLowerCase();
  return {
    sources: [`?${name}`],
    parse: (reader) => {
      const text = reader.query(lowerName);
      if (text === undefined || text === "") return absent;
      const value = parse(text);
      return value === undefined ? invalidQuery(name, text, reason) : ok(value);
    },
  };
}

/** Makes a parameter mandatory: its absence is a fault. */
export function required<T>(param: Param<T | undefined>): Param<T> {
  return {
    sources: param.sources,
    parse: (reader) => {
      const parsed = param.parse(reader);
      if (!parsed.ok || parsed.value !== undefined) return parsed as Result<T>;
      const source = param.sources[0] ?? "";
      return source.startsWith("?") ? missingQuery(source.slice(1)) : missingHeader(source);
    },
  };
}

/** Adds a check to a parameter, which runs after it was parsed and returns a fault of its own. */
export function checked<T>(param: Param<T>, check: (value: T) => Result<T>): Param<T> {
  return {
    sources: param.sources,
    parse: (reader) => {
      const parsed = param.parse(reader);
      return parsed.ok ? check(parsed.value) : parsed;
    },
  };
}

/** Parses every parameter; returns the first fault in declaration order. */
export function parseParams<P extends Params>(params: P, reader: ParamReader): Result<InputOf<P>> {
  const input: Record<string, unknown> = {};
  for (const name in params) {
    const param = params[name]!;
    const parsed = param.parse(reader);
    if (!parsed.ok) return withSubject(parsed, param.sources.join(", "));
    input[name] = parsed.value;
  }
  return ok(input as InputOf<P>);
}

/** The parser of a text that may have any value. */
export const text: TextParser<string> = (value) => value;

export const boolean: TextParser<boolean> = (value) => {
  const lower = value.toLowerCase();
  return lower === "true" ? true : lower === "false" ? false : undefined;
};

export function integer(min: number, max: number): TextParser<number> {
  return (value) => {
    if (!/^-?\d{1,16}$/.test(value)) return undefined;
    const number = Number(value);
    return number >= min && number <= max ? number : undefined;
  };
}

/** Accepts one of several words in any case; returns it as it is written here. */
export function oneOf<const T extends string>(...choices: readonly T[]): TextParser<T> {
  return (value) => choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
}

/** Whether a text can be sent as the value of a header: one byte per character, and no control
 *  character except tab. */
export function isHeaderText(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
