/** A token of the query. Names in double quotes are case-sensitive. */
export type SqlToken =
  | { readonly kind: "word"; readonly text: string; readonly upper: string }
  | { readonly kind: "name" | "string" | "symbol"; readonly text: string }
  | { readonly kind: "number"; readonly value: number };

const expressionUnitsMax = 256 * 1024;
/** Limit of this server. It also bounds the depth of the expression tree, because each operator of
 *  a chain adds a level. */
const tokensMax = 4000;

const tokenForm = new RegExp(
  [
    /'((?:[^']|'')*)'/,
    /"((?:[^"]|"")*)"/,
    /((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)/,
    /([A-Za-z_][A-Za-z0-9_]*)/,
    /(<>|!=|<=|>=|\[\*\]|[-=<>+*/%^&|(),.;[\]])/,
  ]
    .map(({ source }) => `\\s*${source}`)
    .join("|"),
  "y",
);

/** Splits a query into tokens; undefined if the text has an invalid character or is too long. */
export function parseSqlTokens(text: string): readonly SqlToken[] | undefined {
  const trimmed = text.trimEnd();
  if (trimmed.length > expressionUnitsMax) return undefined;
  const tokens: SqlToken[] = [];
  // A copy, because it remembers its position.
  const form = new RegExp(tokenForm);
  while (form.lastIndex < trimmed.length) {
    const found = form.exec(trimmed);
    if (found === null || tokens.length >= tokensMax) return undefined;
    tokens.push(tokenOf(found));
  }
  return tokens;
}

function tokenOf([, string, name, number, word, symbol]: RegExpExecArray): SqlToken {
  if (string !== undefined) return { kind: "string", text: string.replaceAll("''", "'") };
  if (name !== undefined) return { kind: "name", text: name.replaceAll('""', '"') };
  if (number !== undefined) return { kind: "number", value: Number(number) };
  if (word !== undefined) return { kind: "word", text: word, upper: word.toUpperCase() };
  return { kind: "symbol", text: symbol ?? "" };
}
