import { fail, ok, type Result } from "../../protocol/result.ts";
import { edm, type EdmType, type TypedValue } from "../edm/edm.ts";
import { readTokens, syntaxError, type Token, type TokenKind } from "./tokens.ts";
import type { Comparison, Filter, Operand } from "./tree.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { parseDouble, parseInt32, parseInt64, parseValue } from "../edm/parse-value.ts";

const prefixes: Readonly<Record<string, EdmType>> = {
  datetime: edm.dateTime,
  guid: edm.guid,
  binary: edm.binary,
  X: edm.binary,
};

/** Parses the literal of a token; undefined if it is malformed. */
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

/** Maximum nesting of parentheses and `not`. */
export const filterDepthMax = 100;

/** Parses `$filter` by recursive descent: or, and, not, comparison.
 *  learn.microsoft.com/rest/api/storageservices/
 *  querying-tables-and-entities#constructing-filter-strings */
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
