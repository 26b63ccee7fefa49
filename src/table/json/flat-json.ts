/** A JSON parser for objects without nesting, as entities are. `JSON.parse` would lose the
 *  difference between 1 and 1.0, the digits of large numbers, and duplicate names. */

/** A number as text: `1.0` is a Double, `1` an Int32, and neither may lose digits. */
interface JsonNumber {
  readonly number: string;
}

/** A JSON value that is neither an object nor an array. */
export type JsonScalar = string | boolean | null | JsonNumber;
type JsonMember = readonly [name: string, value: JsonScalar];

/** Limit of members per object; an object with more is malformed. An entity has at most 255
 *  properties, and as many annotations of their types. */
const jsonMembersMax = 2_000;

/** Parses a JSON object, with duplicate members; undefined for any other text, or if nested. */
export function parseFlatJson(text: string): readonly JsonMember[] | undefined {
  const parser = new FlatJsonParser();
  if (!parser.read(text)) return undefined;
  return parser.names.map((name, index) => [name, parser.values[index]!]);
}

/** A parser that `read-entity.ts` uses for all entities. The result of `read` is in `names` and
 *  `values`, up to `count`, until the next `read`. */
export class FlatJsonParser {
  readonly names: string[] = [];
  readonly values: (JsonScalar | undefined)[] = [];
  count = 0;
  /** Names by position, of this object as far as it has been read, then of the previous one:
   *  `#readName` compares with them, because consecutive entities mostly have the same properties.
   *  Undefined if the name was written with escapes. */
  readonly #plainNames: (string | undefined)[] = [];
  /** A value that is no string. Each parser has its own expression, because the expression stores
   *  the position at which it continues. */
  readonly #scalarForm = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  #text = "";
  #at = 0;

  /** Parses an object; false if the text is not one. */
  read(text: string): boolean {
    this.#text = text;
    this.#at = text.startsWith("\uFEFF") ? 1 : 0;
    this.count = 0;
    const isRead = this.#readObject();
    this.#text = "";
    this.#releaseStrings();
    return isRead;
  }

  /** Drops strings of earlier objects: a substring keeps its whole request body in memory. */
  #releaseStrings(): void {
    this.names.length = this.count;
    this.values.length = this.count;
    if (this.#plainNames.length > this.count) this.#plainNames.length = this.count;
  }

  #readObject(): boolean {
    if (!this.#take(openBrace)) return false;
    if (!this.#take(closeBrace)) {
      do {
        this.#skipBlanks();
        const name = this.#readName();
        if (name === undefined || !this.#take(colon)) return false;
        const value = this.#readScalar();
        if (value === undefined || this.count >= jsonMembersMax) return false;
        this.names[this.count] = name;
        this.values[this.count] = value;
        this.count += 1;
      } while (this.#take(comma));
      if (!this.#take(closeBrace)) return false;
    }
    this.#skipBlanks();
    return this.#at === this.#text.length;
  }

  #skipBlanks(): void {
    const text = this.#text;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #take(code: number): boolean {
    this.#skipBlanks();
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at += 1;
    return true;
  }

  /** Compares with the name at this position of the previous object first: consecutive entities
   *  often have the same properties in the same order. */
  #readName(): string | undefined {
    const text = this.#text;
    const at = this.#at;
    const expected = this.#plainNames[this.count];
    if (expected !== undefined && text.charCodeAt(at) === quoteMark) {
      const end = at + 1 + expected.length;
      if (text.charCodeAt(end) === quoteMark && text.startsWith(expected, at + 1)) {
        this.#at = end + 1;
        return expected;
      }
    }
    const name = this.#readString();
    const isPlain = name !== undefined && this.#at === at + name.length + 2;
    if (this.count < plainNamesMax) this.#plainNames[this.count] = isPlain ? name : undefined;
    return name;
  }

  #readScalar(): JsonScalar | undefined {
    this.#skipBlanks();
    const text = this.#text;
    const at = this.#at;
    const first = text.charCodeAt(at);
    if (first === quoteMark) return this.#readString();
    const form = this.#scalarForm;
    form.lastIndex = at;
    if (!form.test(text)) return undefined;
    this.#at = form.lastIndex;
    if (first === letterN) return null;
    if (first === letterT || first === letterF) return first === letterT;
    return { number: text.slice(at, this.#at) };
  }

  #readString(): string | undefined {
    const text = this.#text;
    const at = this.#at;
    if (text.charCodeAt(at) !== quoteMark) return undefined;
    let end = text.indexOf('"', at + 1);
    while (end >= 0 && isEscaped(text, end, at)) end = text.indexOf('"', end + 1);
    if (end < 0) return undefined;
    this.#at = end + 1;
    const inner = text.slice(at + 1, end);
    if (controls.test(inner)) return undefined;
    return inner.includes("\\") ? unescape(text.slice(at, end + 1)) : inner;
  }
}

const quoteMark = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const letterF = 0x66;
const letterN = 0x6e;
const letterT = 0x74;
/** How many names of an object are kept for comparison with the next one: those of an entity. */
const plainNamesMax = 256;

// eslint-disable-next-line no-control-regex -- JSON allows none of them inside a string
const controls = /[\u0000-\u001F]/;

/** A quotation mark is escaped if an odd number of backslashes precedes it. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let count = 0;
  while (quote - 1 - count > start && text[quote - 1 - count] === "\\") count += 1;
  return count % 2 === 1;
}

function unescape(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
