import type { TagOperator } from "./tags.ts";

/** `at` starts at 1. */
export type TagToken =
  | { readonly kind: "name" | "value" | "parameter"; readonly text: string; readonly at: number }
  | { readonly kind: "operator"; readonly text: TagOperator; readonly at: number }
  | { readonly kind: "and" | "or" | "(" | ")"; readonly at: number };

export interface ScannedTags {
  readonly text: string;
  readonly tokens: readonly TagToken[];
  /** Position of the first text that is no token, starting at 1. */
  readonly stoppedAt: number | undefined;
}

const operators: ReadonlySet<string> = new Set<TagOperator>(["=", "<>", ">", ">=", "<", "<="]);

/** One token with the preceding white space; a quote is doubled inside quotes of its kind. */
const tokenForm = new RegExp(
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

const tokensMax = 1000;

export function scanTagTokens(written: string): ScannedTags {
  const text = written.trimEnd();
  const tokens: TagToken[] = [];
  tokenForm.lastIndex = 0;
  while (tokenForm.lastIndex < text.length) {
    const start = tokenForm.lastIndex;
    const found = tokenForm.exec(text);
    const token = found === null ? undefined : tokenOf(found);
    if (token === undefined || tokens.length >= tokensMax) {
      return { text, tokens, stoppedAt: start + spacesAt(text, start) + 1 };
    }
    tokens.push(token);
  }
  return { text, tokens, stoppedAt: undefined };
}

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
