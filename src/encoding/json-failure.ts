/** Finds where a text stops to be JSON. The parser of JavaScript knows, but its message quotes the
 *  text, which may contain keys, and often leaves out the position. */

interface Position {
  readonly line: number;
  readonly column: number;
}

/** The position of the first character that cannot be part of JSON, or the end of a text that is
 *  incomplete. Both numbers begin with 1. */
export function jsonFailure(text: string): Position {
  const lines = text.slice(0, failureAt(text)).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

const space = /[ \t\r\n]*/y;
// JSON forbids the control characters below U+0020, not those from U+007F on.
const string = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /true|false|null/y;

/** What may follow at a place of the text. */
type Expected = "value" | "first-value" | "name" | "first-name" | "colon" | "next";

function failureAt(text: string): number {
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found !== null;
  };
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  for (;;) {
    take(space);
    const character = text[at];
    if (expected === "next" && open.length === 0) return at;
    const closer = open.at(-1) === "{" ? "}" : "]";
    const mayClose = expected === "next" || expected.startsWith("first");
    if (mayClose && character === closer) {
      open.pop();
      at += 1;
      expected = "next";
    } else if (expected === "next") {
      if (character !== ",") return at;
      at += 1;
      expected = open.at(-1) === "{" ? "name" : "value";
    } else if (expected === "colon") {
      if (character !== ":") return at;
      at += 1;
      expected = "value";
    } else if (expected === "name" || expected === "first-name") {
      if (!take(string)) return at;
      expected = "colon";
    } else if (character === "{" || character === "[") {
      open.push(character);
      at += 1;
      expected = character === "{" ? "first-name" : "first-value";
    } else {
      if (!take(string) && !take(number) && !take(word)) return at;
      expected = "next";
    }
  }
}
