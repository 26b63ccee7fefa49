import { foldName } from "../../file/shared/fold.ts";

/** Patterns of file names with the wildcards of DOS ([MS-FSA] 2.1.4.4). */

const dosStar = "<";
const dosQuestion = ">";
const dosDot = '"';
const stepsMax = 100_000;

export function isPattern(text: string): boolean {
  return /[*?<>"]/.test(text);
}

export function matches(pattern: string, name: string): boolean {
  if (pattern === "*" || pattern === "*.*") return true;
  const matcher = new Matcher(foldName(pattern), foldName(name));
  return matcher.from(0, 0);
}

class Matcher {
  readonly #pattern: string;
  readonly #name: string;
  readonly #lastDot: number;
  readonly #failed = new Set<number>();
  #steps = 0;

  constructor(pattern: string, name: string) {
    this.#pattern = pattern;
    this.#name = name;
    this.#lastDot = name.lastIndexOf(".");
  }

  /** Remembers what led nowhere, so that many stars cost no more than their product. */
  from(at: number, of: number): boolean {
    const place = at * (this.#name.length + 1) + of;
    this.#steps += 1;
    if (this.#failed.has(place) || this.#steps > stepsMax) return false;
    const found = this.#step(at, of);
    if (!found) this.#failed.add(place);
    return found;
  }

  #step(at: number, of: number): boolean {
    const sign = this.#pattern[at];
    const isEnd = of >= this.#name.length;
    switch (sign) {
      case undefined:
        return isEnd;
      case "*":
        return this.from(at + 1, of) || (!isEnd && this.from(at, of + 1));
      case dosStar: {
        const mayGoOn = !isEnd && (this.#name[of] !== "." || of !== this.#lastDot);
        return this.from(at + 1, of) || (mayGoOn && this.from(at, of + 1));
      }
      case "?":
        return !isEnd && this.from(at + 1, of + 1);
      case dosQuestion:
        if (isEnd || this.#name[of] === ".") return this.from(at + 1, of);
        return this.from(at + 1, of + 1);
      case dosDot:
        if (isEnd) return this.from(at + 1, of);
        return this.#name[of] === "." && this.from(at + 1, of + 1);
      default:
        return !isEnd && this.#name[of] === sign && this.from(at + 1, of + 1);
    }
  }
}
