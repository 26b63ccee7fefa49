import { ok, type Result } from "../../protocol/result.ts";
import { invalidXmlNode } from "../../protocol/faults.ts";
import {
  aggregateNames,
  comparisons,
  scalarNames,
  type Aggregate,
  type BinaryOperator,
  type CastType,
  type Expression,
  type Projection,
  type Query,
  type ScalarName,
  type Selection,
} from "./evaluate.ts";
import { parseLike } from "./like-pattern.ts";

/** Parses the SQL of Query Blob Contents into a syntax tree (`evaluate.ts`): a tokenizer and a
 *  recursive-descent parser. `query-blob.ts` calls it while it parses the request body. */

/** A token of the query. Names in double quotes are case-sensitive. */
type SqlToken =
  | { readonly kind: "word"; readonly text: string; readonly upper: string }
  | { readonly kind: "name" | "string" | "symbol"; readonly text: string }
  | { readonly kind: "number"; readonly value: number };

const expressionUnitsMax = 256 * 1024;
/** Most tokens of a query, against malicious ones. It also bounds the depth of the expression tree,
 *  because each operator of a chain adds a level. */
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

/** Splits a query into tokens; undefined if it has an invalid character or is too long. */
function parseSqlTokens(text: string): readonly SqlToken[] | undefined {
  const trimmed = text.trimEnd();
  if (trimmed.length > expressionUnitsMax) return undefined;
  const tokens: SqlToken[] = [];
  // A copy for each call, because a global regular expression keeps its position.
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

const columnsMax = 1024;
const table = "BLOBSTORAGE";

/** Parses the SQL of Query Blob Contents: learn.microsoft.com/azure/storage/blobs/
 *  query-acceleration-sql-reference */
export function parseQuery(text: string): Result<Query> {
  const tokens = parseSqlTokens(text);
  if (tokens === undefined)
    return expressionFault(text, "the expression has an invalid character or is too long");
  try {
    return ok(readQuery(new TokenReader(tokens)));
  } catch (error) {
    if (error instanceof SqlSyntaxError) return expressionFault(text, error.message);
    throw error;
  }
}

function expressionFault(text: string, reason: string): Result<never> {
  return invalidXmlNode("Expression", text.slice(0, 256), reason);
}

function readQuery(reader: TokenReader): Query {
  reader.expect("SELECT");
  const selection = readSelection(reader);
  reader.expect("FROM");
  const from = readFrom(reader);
  const alias = readTableAlias(reader);
  const where = reader.take("WHERE") ? parseExpression(reader) : undefined;
  const limit = reader.take("LIMIT") ? readLimit(reader) : undefined;
  while (reader.take(";"));
  if (!reader.isDone) throw new SqlSyntaxError("unexpected text after the query");
  return withoutAlias({ selection, from, where, limit }, alias);
}

function readSelection(reader: TokenReader): Selection {
  if (reader.take("*")) return { kind: "all" };
  const items: (Projection | Aggregate)[] = [];
  do {
    items.push(readItem(reader));
    if (items.length > columnsMax) throw new SqlSyntaxError(`more than ${columnsMax} columns`);
  } while (reader.take(","));
  const aggregates = items.filter((item): item is Aggregate => "name" in item);
  if (aggregates.length === items.length) return { kind: "aggregates", aggregates };
  if (aggregates.length > 0) throw new SqlSyntaxError("columns and aggregates cannot be mixed");
  return { kind: "columns", columns: items as Projection[] };
}

function readItem(reader: TokenReader): Projection | Aggregate {
  const name = aggregateNames.find((known) => reader.isAt(known) && reader.isAt("(", 1));
  if (name === undefined) {
    const of = parseExpression(reader);
    return { of, alias: readAlias(reader) };
  }
  reader.next();
  reader.expect("(");
  const of = name === "COUNT" && reader.take("*") ? undefined : parseExpression(reader);
  reader.expect(")");
  return { name, of, alias: readAlias(reader) };
}

function readAlias(reader: TokenReader): string | undefined {
  return reader.take("AS") ? nameOf(reader) : undefined;
}

/** Parses the table of FROM: `BlobStorage` or, for JSON, `BlobStorage[*].owner.pets[*]`. */
function readFrom(reader: TokenReader): readonly string[] {
  if (nameOf(reader).toUpperCase() !== table)
    throw new SqlSyntaxError("FROM must name BlobStorage");
  const path: string[] = [];
  for (;;) {
    if (reader.take("[*]")) path.push("*");
    else if (reader.take(".")) path.push(nameOf(reader));
    else return path;
  }
}

function readTableAlias(reader: TokenReader): string | undefined {
  if (reader.take("AS")) return nameOf(reader);
  const token = reader.peek();
  if (token?.kind !== "word" || token.upper === "WHERE" || token.upper === "LIMIT") {
    return undefined;
  }
  return nameOf(reader);
}

function readLimit(reader: TokenReader): number {
  const token = reader.next();
  if (token.kind !== "number" || !Number.isInteger(token.value)) {
    throw new SqlSyntaxError("LIMIT must be a whole number");
  }
  return token.value;
}

/** Removes the name of the table from the column names in a query: `BlobStorage.name` and
 *  `alias.name` mean `name`. */
function withoutAlias(query: Query, alias: string | undefined): Query {
  const known = new Set([table, ...(alias === undefined ? [] : [alias.toUpperCase()])]);
  const strip = (expression: Expression): Expression => withoutTable(expression, known);
  const { selection, where } = query;
  return {
    ...query,
    where: where && strip(where),
    selection: mapSelection(selection, strip),
  };
}

function mapSelection(selection: Selection, map: (of: Expression) => Expression): Selection {
  switch (selection.kind) {
    case "all":
      return selection;
    case "columns":
      return {
        kind: "columns",
        columns: selection.columns.map((column) => ({ ...column, of: map(column.of) })),
      };
    case "aggregates":
      return {
        kind: "aggregates",
        aggregates: selection.aggregates.map((one) => ({ ...one, of: one.of && map(one.of) })),
      };
  }
}

function withoutTable(expression: Expression, tables: ReadonlySet<string>): Expression {
  const strip = (inner: Expression): Expression => withoutTable(inner, tables);
  switch (expression.kind) {
    case "literal":
      return expression;
    case "column": {
      const [first, ...rest] = expression.path;
      const named = rest.length > 0 && tables.has(String(first).toUpperCase());
      return named ? { ...expression, path: rest } : expression;
    }
    case "binary":
      return { ...expression, left: strip(expression.left), right: strip(expression.right) };
    case "call":
      return { ...expression, given: expression.given.map(strip) };
    case "in":
      return { ...expression, of: strip(expression.of), among: expression.among.map(strip) };
    case "unary":
    case "null-test":
    case "cast":
    case "like":
      return { ...expression, of: strip(expression.of) };
  }
}

/** Binary operators by increasing precedence, for `parseLevel`. */
const levels: readonly (readonly BinaryOperator[])[] = [
  ["|"],
  ["&"],
  ["+", "-"],
  ["*", "/", "%"],
  ["^"],
];

function parseExpression(reader: TokenReader): Expression {
  return reader.nested(() => parseOr(reader));
}

function parseOr(reader: TokenReader): Expression {
  let left = parseAnd(reader);
  while (reader.take("OR")) {
    left = { kind: "binary", operator: "or", left, right: parseAnd(reader) };
  }
  return left;
}

function parseAnd(reader: TokenReader): Expression {
  let left = parseNot(reader);
  while (reader.take("AND")) {
    left = { kind: "binary", operator: "and", left, right: parseNot(reader) };
  }
  return left;
}

function parseNot(reader: TokenReader): Expression {
  if (!reader.take("NOT")) return parseComparison(reader);
  return { kind: "unary", operator: "not", of: reader.nested(() => parseNot(reader)) };
}

function parseComparison(reader: TokenReader): Expression {
  const left = parseLevel(reader, 0);
  if (reader.take("IS")) {
    const negated = reader.take("NOT");
    reader.expect("NULL");
    return { kind: "null-test", of: left, negated };
  }
  const negated = reader.isAt("NOT") && reader.take("NOT");
  const special = parseSpecial(reader, left);
  if (special !== undefined) {
    return negated ? { kind: "unary", operator: "not", of: special } : special;
  }
  if (negated) throw new SqlSyntaxError("NOT must be followed by BETWEEN, IN or LIKE here");
  const operator = takeComparison(reader);
  if (operator === undefined) return left;
  return { kind: "binary", operator, left, right: parseLevel(reader, 0) };
}

function takeComparison(reader: TokenReader): (typeof comparisons)[number] | undefined {
  if (reader.take("!=")) return "<>";
  return comparisons.find((operator) => reader.take(operator));
}

function parseSpecial(reader: TokenReader, of: Expression): Expression | undefined {
  if (reader.take("BETWEEN")) return parseBetween(reader, of);
  if (reader.take("IN")) return { kind: "in", of, among: parseList(reader) };
  if (!reader.take("LIKE")) return undefined;
  const pattern = stringOf(reader);
  const escape = reader.take("ESCAPE") ? stringOf(reader) : "";
  return { kind: "like", of, pattern: parseLike(pattern, escape) };
}

function parseBetween(reader: TokenReader, of: Expression): Expression {
  const low = parseLevel(reader, 0);
  reader.expect("AND");
  const high = parseLevel(reader, 0);
  return {
    kind: "binary",
    operator: "and",
    left: { kind: "binary", operator: ">=", left: of, right: low },
    right: { kind: "binary", operator: "<=", left: of, right: high },
  };
}

function parseLevel(reader: TokenReader, level: number): Expression {
  const operators = levels[level];
  if (operators === undefined) return parseUnary(reader);
  let left = parseLevel(reader, level + 1);
  for (;;) {
    const operator = operators.find((candidate) => reader.take(candidate));
    if (operator === undefined) return left;
    left = { kind: "binary", operator, left, right: parseLevel(reader, level + 1) };
  }
}

function parseUnary(reader: TokenReader): Expression {
  if (reader.take("+")) return reader.nested(() => parseUnary(reader));
  if (!reader.take("-")) return parsePrimary(reader);
  return { kind: "unary", operator: "-", of: reader.nested(() => parseUnary(reader)) };
}

function parsePrimary(reader: TokenReader): Expression {
  if (reader.take("(")) {
    const inner = parseExpression(reader);
    reader.expect(")");
    return inner;
  }
  const token = reader.next();
  switch (token.kind) {
    case "number":
      return { kind: "literal", value: token.value };
    case "string":
      return { kind: "literal", value: token.text };
    case "name":
      return { kind: "column", path: parsePath(reader, token.text) };
    case "word":
      return parseWord(reader, token.text, token.upper);
    case "symbol":
      throw new SqlSyntaxError(`${token.text} is not expected here`);
  }
}

function parseWord(reader: TokenReader, text: string, upper: string): Expression {
  if (upper === "NULL") return { kind: "literal", value: null };
  if (upper === "TRUE" || upper === "FALSE") return { kind: "literal", value: upper === "TRUE" };
  if (!reader.isAt("(")) return { kind: "column", path: parsePath(reader, text) };
  if (upper === "CAST") return parseCast(reader);
  const name = scalarNames.find((known) => known === upper);
  if (name === undefined) throw new SqlSyntaxError(`unknown function ${text}`);
  return { kind: "call", name, given: parseArguments(reader, name) };
}

/** Parses the path of a column, which for JSON may lead into structures (`a.b[0]`). */
function parsePath(reader: TokenReader, first: string): readonly (string | number)[] {
  const path: (string | number)[] = [first];
  for (;;) {
    if (reader.take(".")) path.push(nameOf(reader));
    else if (reader.take("[")) {
      const index = reader.next();
      if (index.kind !== "number") throw new SqlSyntaxError("an index must be a number");
      path.push(index.value);
      reader.expect("]");
    } else return path;
  }
}

function nameOf(reader: TokenReader): string {
  const token = reader.next();
  if (token.kind === "word" || token.kind === "name") return token.text;
  throw new SqlSyntaxError("a name was expected");
}

function stringOf(reader: TokenReader): string {
  const token = reader.next();
  if (token.kind === "string") return token.text;
  throw new SqlSyntaxError("a string was expected");
}

const castTypes: Readonly<Record<string, CastType>> = {
  INT: "int",
  INTEGER: "int",
  BIGINT: "int",
  FLOAT: "float",
  DOUBLE: "float",
  DECIMAL: "float",
  NUMERIC: "float",
  STRING: "string",
  VARCHAR: "string",
  BOOL: "bool",
  BOOLEAN: "bool",
  TIMESTAMP: "timestamp",
};

function parseCast(reader: TokenReader): Expression {
  reader.expect("(");
  const of = parseExpression(reader);
  reader.expect("AS");
  const type = castTypes[nameOf(reader).toUpperCase()];
  if (type === undefined) throw new SqlSyntaxError("unknown type in CAST");
  reader.expect(")");
  return { kind: "cast", of, type };
}

function parseList(reader: TokenReader): readonly Expression[] {
  reader.expect("(");
  const list = [parseExpression(reader)];
  while (reader.take(",")) list.push(parseExpression(reader));
  reader.expect(")");
  return list;
}

/** Parses arguments. SUBSTRING may separate them by words: `(text FROM start FOR length)`. */
function parseArguments(reader: TokenReader, name: ScalarName): readonly Expression[] {
  if (name !== "SUBSTRING") return parseList(reader);
  reader.expect("(");
  const list = [parseExpression(reader)];
  while (reader.take(",") || reader.take("FROM") || reader.take("FOR")) {
    list.push(parseExpression(reader));
  }
  reader.expect(")");
  return list;
}

/** Thrown by the parser, caught in `parseQuery`. The message is part of the response. */
class SqlSyntaxError extends Error {
  override readonly name = "SqlSyntaxError";
}

const depthMax = 200;

/** A cursor over the tokens of a query. `next` and `expect` throw if the token is missing. */
class TokenReader {
  readonly #tokens: readonly SqlToken[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens;
  }

  get isDone(): boolean {
    return this.#at >= this.#tokens.length;
  }

  peek(ahead = 0): SqlToken | undefined {
    return this.#tokens[this.#at + ahead];
  }

  next(): SqlToken {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new SqlSyntaxError("the expression ends too early");
    this.#at += 1;
    return token;
  }

  /** Consumes the word or symbol if it is the next token; returns whether it was. */
  take(text: string): boolean {
    if (!this.isAt(text)) return false;
    this.#at += 1;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw new SqlSyntaxError(`${text} was expected`);
  }

  isAt(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    if (token?.kind === "word") return token.upper === text;
    return token?.kind === "symbol" && token.text === text;
  }

  /** Parses a nested part of the query, for example an expression in parentheses. Throws beyond 200
   *  levels, because the parser is recursive and would overflow the stack. */
  nested<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > depthMax) throw new SqlSyntaxError("the expression nests too deep");
    const parsed = parse();
    this.#depth -= 1;
    return parsed;
  }
}
