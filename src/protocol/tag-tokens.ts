import type { TagOperator } from "./tags.ts";

/** A token of a tag expression. `at` is its position in the text, counted from 1. */
export type TagToken =
  | { readonly kind: "name" | "value" | "parameter"; readonly text: string; readonly at: number }
  | { readonly kind: "operator"; readonly text: TagOperator; readonly at: number }
  | { readonly kind: "and" | "or" | "(" | ")"; readonly at: number };

export interface ScannedTags {
  readonly text: string;
  readonly tokens: readonly TagToken[];
  /** Position, counted from 1, of the first text that is no token; undefined if there is none. */
  readonly stoppedAt: number | undefined;
}

const operators: ReadonlySet<string> = new Set<TagOperator>(["=", "<>", ">", ">=", "<", "<="]);

/** One token with the white space before it. Inside quotation marks, the mark itself is doubled. */
const tokenPattern = new RegExp(
  [
    /'((?:[^']|'')*)'/,
    /"((?:[^"]|"")+)"/,
    /(@\w*)/,
    /([A-Za-z_][A-Za-z0-9_]*)/,
    /(<>|>=|<=|[=<>])/,
    /([()])/,
  ]
    .map(({ source }) => `\\s*${source}`)
    .join("|"),
  "y",
);

/** Limit of this server. */
const tokensMax = 1000;

/** Splits a text into tokens, as far as it consists of tokens. */
export function scanTagTokens(written: string): ScannedTags {
  const text = written.trimEnd();
  const tokens: TagToken[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.length) {
    const start = tokenPattern.lastIndex;
    const found = tokenPattern.exec(text);
    const token = found === null ? undefined : tokenOf(found);
    if (token === undefined || tokens.length >= tokensMax) {
      return { text, tokens, stoppedAt: start + spacesAt(text, start) + 1 };
    }
    tokens.push(token);
  }
  return { text, tokens, stoppedAt: undefined };
}

/** Splits a text into tokens; undefined if it contains other text. */
export function parseTagTokens(text: string): readonly TagToken[] | undefined {
  const { tokens, stoppedAt } = scanTagTokens(text);
  return stoppedAt === undefined ? tokens : undefined;
}

export function tokenText(token: TagToken): string {
  return "text" in token ? token.text : token.kind;
}

function spacesAt(text: string, from: number): number {
  return text.length - from - text.slice(from).trimStart().length;
}

function tokenOf(found: RegExpExecArray): TagToken | undefined {
  const [whole, value, quotedName, parameter, word, operator, parenthesis] = found;
  const at = found.index + spacesAt(whole, 0) + 1;
  if (value !== undefined) return { kind: "value", text: value.replaceAll("''", "'"), at };
  if (quotedName !== undefined) {
    return { kind: "name", text: quotedName.replaceAll('""', '"'), at };
  }
  if (parameter !== undefined) return { kind: "parameter", text: parameter, at };
  if (word !== undefined) return wordToken(word, at);
  if (operator !== undefined && isOperator(operator)) {
    return { kind: "operator", text: operator, at };
  }
  if (parenthesis === "(" || parenthesis === ")") return { kind: parenthesis, at };
  return undefined;
}

function wordToken(word: string, at: number): TagToken {
  const lower = word.toLowerCase();
  return lower === "and" || lower === "or" ? { kind: lower, at } : { kind: "name", text: word, at };
}

function isOperator(text: string): text is TagOperator {
  return operators.has(text);
}
