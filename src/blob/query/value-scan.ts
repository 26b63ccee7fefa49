import { FatalQueryError } from "./records.ts";

/** Limit of this server for the nesting of arrays and objects. */
const depthMax = 256;
const between = /[\s,]/;
const endOfScalar = /[\s,\]]/;
const numberForm = /^-?\d[\d.eE+-]*/;

export interface FoundValue {
  readonly from: number;
  readonly to: number;
  /** Whether the value is an element of a top-level array. */
  readonly isElement: boolean;
  /** Approximate number of members and elements in the value. */
  readonly fields: number;
}

/** Finds start and end of the next JSON value. Resumes where it stopped when more text arrives. */
export class ValueScan {
  #at = 0;
  #from = -1;
  #depth = 0;
  #fields = 0;
  #quoted = false;
  #isScalar = false;
  /** Whether the scan is inside a top-level array. */
  isInside = false;

  /** Whether the end of a value is still missing. */
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

  /** Must be called after the text before `start` was removed. */
  shift(start: number): void {
    this.#at = Math.max(0, this.#at - start);
    if (this.#from >= 0) this.#from -= start;
  }

  /** Whether a value begins with the current character. */
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
      // Recorded: a number is read as a whole, and the character after it is the unexpected one.
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

export function unexpectedToken(token: string, byte: number, offset: number): FatalQueryError {
  const where = `Unexpected token '${token}' at [byte: ${offset + byte}].`;
  const message = `${where} Expecting tokens '{', or '['.`;
  return new FatalQueryError("ParseError", message, offset);
}
