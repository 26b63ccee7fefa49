import type { TagOperator } from "./tags.ts";

export type TagToken =
  | { readonly kind: "name" | "value" | "container"; readonly text: string }
  | { readonly kind: "operator"; readonly text: TagOperator }
  | { readonly kind: "and" | "or" | "(" | ")" };

const operators: ReadonlySet<string> = new Set<TagOperator>(["=", "<>", ">", ">=", "<", "<="]);

/** One token with the white space before it; quotes are doubled inside their own kind. */
const tokenForm = new RegExp(
  [
    /'((?:[^']|'')*)'/,
    /"((?:[^"]|"")+)"/,
    /(@container)/,
    /([A-Za-z_][A-Za-z0-9_]*)/,
    /(<>|>=|<=|[=<>])/,
    /([()])/,
  ]
    .map(({ source }) => `\\s*${source}`)
    .join("|"),
  "y",
);

const tokensMax = 1000;

export function parseTagTokens(text: string): readonly TagToken[] | undefined {
  const trimmed = text.trimEnd();
  const tokens: TagToken[] = [];
  tokenForm.lastIndex = 0;
  while (tokenForm.lastIndex < trimmed.length) {
    const found = tokenForm.exec(trimmed);
    if (found === null || tokens.length >= tokensMax) return undefined;
    const token = tokenOf(found);
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
}

function tokenOf(found: RegExpExecArray): TagToken | undefined {
  const [, value, quotedName, container, word, operator, parenthesis] = found;
  if (value !== undefined) return { kind: "value", text: value.replaceAll("''", "'") };
  if (quotedName !== undefined) return { kind: "name", text: quotedName.replaceAll('""', '"') };
  if (container !== undefined) return { kind: "container", text: container };
  if (word !== undefined) return wordToken(word);
  if (operator !== undefined && isOperator(operator)) return { kind: "operator", text: operator };
  if (parenthesis === "(" || parenthesis === ")") return { kind: parenthesis };
  return undefined;
}

function wordToken(word: string): TagToken {
  const lower = word.toLowerCase();
  return lower === "and" || lower === "or" ? { kind: lower } : { kind: "name", text: word };
}

function isOperator(text: string): text is TagOperator {
  return operators.has(text);
}
