import { foldName } from "../../file/shared/fold.ts";

/** File name patterns with DOS wildcards ([MS-FSA] 2.1.4.4). */

const dosStar = "<";
const dosQuestion = ">";
const dosDot = '"';
/** Bounds the time of one comparison; beyond it the name does not match. */
const stepsMax = 100_000;

export function isPattern(text: string): boolean {
  return /[*?<>"]/.test(text);
}

export function matches(pattern: string, name: string): boolean {
  if (pattern === "*" || pattern === "*.*") return true;
  const matcher = new Matcher(foldName(pattern), foldName(name));
  return matcher.matchesFrom(0, 0);
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

  /** Whether the rest of the pattern matches the rest of the name. Remembers pairs of positions
   *  that do not match, so that n stars cost O(pattern × name), not O(nameⁿ). */
  matchesFrom(patternIndex: number, nameIndex: number): boolean {
    const position = patternIndex * (this.#name.length + 1) + nameIndex;
    this.#steps += 1;
    if (this.#failed.has(position) || this.#steps > stepsMax) return false;
    const isMatch = this.#step(patternIndex, nameIndex);
    if (!isMatch) this.#failed.add(position);
    return isMatch;
  }

  #step(patternIndex: number, nameIndex: number): boolean {
    const sign = this.#pattern[patternIndex];
    const isEnd = nameIndex >= this.#name.length;
    switch (sign) {
      case undefined:
        return isEnd;
      case "*":
        return (
          this.matchesFrom(patternIndex + 1, nameIndex) ||
          (!isEnd && this.matchesFrom(patternIndex, nameIndex + 1))
        );
      case dosStar: {
        const mayConsume = !isEnd && (this.#name[nameIndex] !== "." || nameIndex !== this.#lastDot);
        return (
          this.matchesFrom(patternIndex + 1, nameIndex) ||
          (mayConsume && this.matchesFrom(patternIndex, nameIndex + 1))
        );
      }
      case "?":
        return !isEnd && this.matchesFrom(patternIndex + 1, nameIndex + 1);
      case dosQuestion:
        if (isEnd || this.#name[nameIndex] === ".")
          return this.matchesFrom(patternIndex + 1, nameIndex);
        return this.matchesFrom(patternIndex + 1, nameIndex + 1);
      case dosDot:
        if (isEnd) return this.matchesFrom(patternIndex + 1, nameIndex);
        return this.#name[nameIndex] === "." && this.matchesFrom(patternIndex + 1, nameIndex + 1);
      default:
        return (
          !isEnd &&
          this.#name[nameIndex] === sign &&
          this.matchesFrom(patternIndex + 1, nameIndex + 1)
        );
    }
  }
}
