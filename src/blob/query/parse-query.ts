import { ok, type Result } from "../../protocol/result.ts";
import { invalidXmlNode } from "../../protocol/faults.ts";
import { nameOf, parseExpression } from "./parse-expression.ts";
import { parseSqlTokens } from "./sql-tokens.ts";
import { aggregateNames } from "./sql-tree.ts";
import type { Aggregate, Expression, Projection, Query, Selection } from "./sql-tree.ts";
import { SqlSyntaxError, TokenReader } from "./token-reader.ts";

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

/** Removes the table from a column name: `BlobStorage.name` and `alias.name` mean `name`. */
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
