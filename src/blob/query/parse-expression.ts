import { parseLike } from "./like-pattern.ts";
import { comparisons, scalarNames } from "./sql-tree.ts";
import type { BinaryOperator, CastType, Expression, ScalarName } from "./sql-tree.ts";
import { SqlSyntaxError, type TokenReader } from "./token-reader.ts";

/** Binary operators by increasing precedence. */
const levels: readonly (readonly BinaryOperator[])[] = [
  ["|"],
  ["&"],
  ["+", "-"],
  ["*", "/", "%"],
  ["^"],
];

export function parseExpression(reader: TokenReader): Expression {
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

/** Parses the path of a column, such as `a.b[0]`. */
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

export function nameOf(reader: TokenReader): string {
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

/** SUBSTRING may separate its arguments by keywords: `(text FROM start FOR length)`. */
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
