import {
  edm,
  parseDouble,
  parseInt32,
  parseInt64,
  parseValue,
  type TypedValue,
  type EdmType,
} from "../edm/edm.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { parseGuid } from "../../protocol/guid.ts";

/** Parses `$filter` of Query Entities and Query Tables.
 *  learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities */

export type Comparison = "eq" | "ne" | "gt" | "ge" | "lt" | "le";

/** A side of a comparison: the name of a property, or a constant. */
export type Operand =
  | { readonly kind: "property"; readonly name: string }
  // `literal` is undefined if the filter has `null`.
  | { readonly kind: "literal"; readonly literal: TypedValue | undefined };

/** A parsed `$filter` as a tree: `and`, `or`, `not`, and comparisons of a property with a
 *  constant. */
export type Filter =
  | { readonly kind: "and" | "or"; readonly left: Filter; readonly right: Filter }
  | { readonly kind: "not"; readonly inner: Filter }
  // A property or literal without a comparison: matches if its value is true.
  | { readonly kind: "value"; readonly operand: Operand }
  | {
      readonly kind: "compare";
      readonly comparison: Comparison;
      readonly left: Operand;
      readonly right: Operand;
    };

type TokenKind = "word" | "string" | "number" | "typed" | "open" | "close" | "comma" | "end";

interface Token {
  readonly kind: TokenKind;
  /** The word, the number, or the text inside the quotes. */
  readonly text: string;
  /** The type name before the quotes of a typed literal, for example `guid`; otherwise empty. */
  readonly prefix: string;
  /** Position in the filter after the token. */
  readonly end: number;
}

/** Longest filter, in UTF-16 code units. No URL that the server accepts is longer. */
export const filterUnitsMax = 16 * 1024;

const wordForm = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}.]*/uy;
const number = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?[LlDdFfMm]?/y;
const marks: Readonly<Record<string, TokenKind>> = { "(": "open", ")": "close", ",": "comma" };

/** The fault of a malformed filter; its message names the end of a token, as Azure's does. */
function syntaxError(position: number, filter: string): Failure {
  return fail("InvalidInput", { message: `Syntax error at position ${position} in '${filter}'.` });
}

/** Splits a `$filter` into tokens for `parseFilter`; the last one is `end`. */
function readTokens(filter: string): Result<readonly Token[]> {
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
  const text = match(wordForm, filter, at);
  if (text === undefined) return undefined;
  const end = at + text.length;
  if (filter[end] === "'") return readQuoted(filter, end, "typed", text);
  return { kind: "word", text, prefix: "", end };
}

function match(form: RegExp, text: string, at: number): string | undefined {
  form.lastIndex = at;
  return form.exec(text)?.[0];
}

/** Reads a quoted text, in which `''` is one quotation mark. */
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

/** The types of typed literals, by the word before the quotes: `guid'…'`. */
const prefixes: Readonly<Record<string, EdmType>> = {
  datetime: edm.dateTime,
  guid: edm.guid,
  binary: edm.binary,
  X: edm.binary,
};

/** The constant that a token means, for example a GUID for `guid'…'`; undefined if malformed. */
function readLiteral(token: Token): TypedValue | undefined {
  if (token.kind === "string") return { type: edm.string, value: token.text };
  if (token.kind === "number") return readNumber(token.text);
  const type = prefixes[token.prefix];
  if (type === undefined) return undefined;
  if (type === edm.binary) return readHex(token.text);
  if (type === edm.guid) {
    const value = parseGuid(token.text);
    return value === undefined ? undefined : { type, value };
  }
  return parseValue(type, token.text);
}

function readNumber(text: string): TypedValue | undefined {
  if (/[Ll]$/.test(text)) return parseInt64(text.slice(0, -1));
  const plain = text.replace(/[DdFfMm]$/, "");
  if (plain !== text || /[.eE]/.test(plain)) return parseDouble(plain);
  return parseInt32(plain) ?? parseInt64(plain);
}

function readHex(text: string): TypedValue | undefined {
  if (text.length % 2 !== 0 || !/^[0-9A-Fa-f]*$/.test(text)) return undefined;
  return { type: edm.binary, value: new Uint8Array(Buffer.from(text, "hex")) };
}

const comparisons: ReadonlySet<string> = new Set(["eq", "ne", "gt", "ge", "lt", "le"]);
const keywords: ReadonlySet<string> = new Set([...comparisons, "and", "or", "not"]);

/** Maximum nesting of parentheses and `not`. Parsing and evaluation are recursive: a deeper filter,
 *  which could exhaust the stack, is rejected. */
export const filterDepthMax = 100;

/** Parses `$filter` by recursive descent, the loosest operator first: or, and, not, comparison. */
export function parseFilter(text: string): Result<Filter> {
  const tokens = readTokens(text);
  if (!tokens.ok) return tokens;
  const parser = new FilterParser(text, tokens.value);
  const filter = parser.readOr(0);
  if (!filter.ok) return filter;
  return parser.atEnd ? filter : parser.syntaxFault();
}

class FilterParser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  get atEnd(): boolean {
    return this.#next.kind === "end";
  }

  syntaxFault(): Result<never> {
    return syntaxError(this.#next.end, this.#text);
  }

  readOr(depth: number): Result<Filter> {
    return this.#readChain("or", () => this.#readAnd(depth));
  }

  #readAnd(depth: number): Result<Filter> {
    return this.#readChain("and", () => this.#readNot(depth));
  }

  #readChain(kind: "and" | "or", readOne: () => Result<Filter>): Result<Filter> {
    let left = readOne();
    while (left.ok && this.#takeWord(kind)) {
      const right = readOne();
      if (!right.ok) return right;
      left = ok({ kind, left: left.value, right: right.value });
    }
    return left;
  }

  #readNot(depth: number): Result<Filter> {
    if (depth > filterDepthMax) return fail("InvalidInput");
    if (this.#takeWord("not")) {
      const inner = this.#readNot(depth + 1);
      return inner.ok ? ok({ kind: "not", inner: inner.value }) : inner;
    }
    if (!this.#take("open")) return this.#readComparison();
    const inner = this.readOr(depth + 1);
    if (!inner.ok) return inner;
    return this.#take("close") ? inner : this.syntaxFault();
  }

  #readComparison(): Result<Filter> {
    const left = this.#readOperand();
    if (!left.ok) return left;
    const { kind, text } = this.#next;
    if (kind !== "word" || !comparisons.has(text)) {
      return ok({ kind: "value", operand: left.value });
    }
    this.#at += 1;
    const right = this.#readOperand();
    if (!right.ok) return right;
    const comparison = text as Comparison;
    return ok({ kind: "compare", comparison, left: left.value, right: right.value });
  }

  #readOperand(): Result<Operand> {
    const token = this.#next;
    if (token.kind === "word") return this.#readWord(token);
    if (token.kind !== "string" && token.kind !== "number" && token.kind !== "typed") {
      return this.syntaxFault();
    }
    const literal = readLiteral(token);
    if (literal === undefined) return this.syntaxFault();
    this.#at += 1;
    return ok({ kind: "literal", literal });
  }

  #readWord({ text }: Token): Result<Operand> {
    if (keywords.has(text)) return this.syntaxFault();
    this.#at += 1;
    if (this.#next.kind === "open") return fail("NotImplemented");
    if (text === "true" || text === "false") {
      return ok({ kind: "literal", literal: { type: edm.boolean, value: text === "true" } });
    }
    if (text === "null") return ok({ kind: "literal", literal: undefined });
    return ok({ kind: "property", name: text });
  }

  #take(kind: TokenKind): boolean {
    if (this.#next.kind !== kind) return false;
    this.#at += 1;
    return true;
  }

  #takeWord(word: string): boolean {
    const { kind, text } = this.#next;
    if (kind !== "word" || text !== word) return false;
    this.#at += 1;
    return true;
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { kind: "end", text: "", prefix: "", end: this.#text.length };
  }
}
