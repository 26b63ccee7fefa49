import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";

export type TokenKind = "word" | "string" | "number" | "typed" | "open" | "close" | "comma" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** The word, the number, or the text inside the quotes. */
  readonly text: string;
  /** The type name before the quotes of a typed literal, for example `guid`; otherwise empty. */
  readonly prefix: string;
  /** Position in the filter after the token. */
  readonly end: number;
}

/** Limit of a filter text; no URL that the server accepts is longer. */
export const filterUnitsMax = 16 * 1024;

const word = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}.]*/uy;
const number = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[LlDdFfMm]?/y;
const marks: Readonly<Record<string, TokenKind>> = { "(": "open", ")": "close", ",": "comma" };

/** Recorded: the position is the end of the unexpected token. */
export function syntaxError(position: number, filter: string): Failure {
  return fail("InvalidInput", { message: `Syntax error at position ${position} in '${filter}'.` });
}

/** Splits a `$filter` into tokens for `parseFilter`; the last one is `end`. */
export function readTokens(filter: string): Result<readonly Token[]> {
  if (filter.length > filterUnitsMax) return fail("InvalidInput");
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(filter[at] ?? "")) at += 1;
    if (at >= filter.length) break;
    const token = readToken(filter, at);
    if (token === undefined) return syntaxError(at, filter);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: "end", text: "", prefix: "", end: filter.length });
  return ok(tokens);
}

function readToken(filter: string, at: number): Token | undefined {
  const mark = marks[filter[at] ?? ""];
  if (mark !== undefined) return { kind: mark, text: filter[at] ?? "", prefix: "", end: at + 1 };
  if (filter[at] === "'") return readQuoted(filter, at, "string", "");
  const digits = match(number, filter, at);
  if (digits !== undefined) {
    return { kind: "number", text: digits, prefix: "", end: at + digits.length };
  }
  const text = match(word, filter, at);
  if (text === undefined) return undefined;
  const end = at + text.length;
  if (filter[end] === "'") return readQuoted(filter, end, "typed", text);
  return { kind: "word", text, prefix: "", end };
}

function match(form: RegExp, text: string, at: number): string | undefined {
  form.lastIndex = at;
  return form.exec(text)?.[0];
}

/** Inside quotes, `''` is one quotation mark. */
function readQuoted(
  filter: string,
  at: number,
  kind: "string" | "typed",
  prefix: string,
): Token | undefined {
  let end = filter.indexOf("'", at + 1);
  while (end >= 0 && filter[end + 1] === "'") end = filter.indexOf("'", end + 2);
  if (end < 0) return undefined;
  const text = filter.slice(at + 1, end).replaceAll("''", "'");
  return { kind, text, prefix, end: end + 1 };
}
