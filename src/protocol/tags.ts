import { parseTagTokens } from "./tag-tokens.ts";
import type { TagToken } from "./tag-tokens.ts";

/** The tags of a blob. */
export type Tags = Readonly<Record<string, string>>;

export type TagOperator = "=" | "<>" | ">" | ">=" | "<" | "<=";

export interface TagComparison {
  readonly kind: "compare";
  readonly name: string;
  readonly operator: TagOperator;
  readonly value: string;
}

/** A parsed `x-ms-if-tags` expression. */
export type TagPredicate =
  | TagComparison
  | { readonly kind: "and" | "or"; readonly left: TagPredicate; readonly right: TagPredicate };

/** The service rejects expressions with more `and` and `or` than this. */
export const logicalOperatorsMax = 10;
/** Bounds the recursion of the parser. */
const parenthesesMax = 100;

/** Parses an `x-ms-if-tags` expression; undefined if it is malformed or exceeds a limit. `and`
 *  binds more tightly than `or`. */
export function parseTagPredicate(text: string): TagPredicate | undefined {
  const tokens = parseTagTokens(text);
  if (tokens === undefined) return undefined;
  const counts = { logicalOperators: 0, parentheses: 0 };
  for (const { kind } of tokens) {
    if (kind === "and" || kind === "or") counts.logicalOperators += 1;
    if (kind === "(") counts.parentheses += 1;
  }
  if (counts.logicalOperators > logicalOperatorsMax || counts.parentheses > parenthesesMax)
    return undefined;
  const cursor = { tokens, at: 0 };
  const predicate = parseOr(cursor);
  return cursor.at === tokens.length ? predicate : undefined;
}

/** Whether tags match an expression. Values are compared by UTF-16 code unit. A comparison with a
 *  missing tag is false, even with `<>`. */
export function matchesTags(predicate: TagPredicate, tags: Tags | undefined): boolean {
  switch (predicate.kind) {
    case "and":
      return matchesTags(predicate.left, tags) && matchesTags(predicate.right, tags);
    case "or":
      return matchesTags(predicate.left, tags) || matchesTags(predicate.right, tags);
    case "compare":
      return tags !== undefined && Object.hasOwn(tags, predicate.name)
        ? compareTag(tags[predicate.name] ?? "", predicate)
        : false;
  }
}

export function compareTag(
  actual: string,
  { operator, value }: Pick<TagComparison, "operator" | "value">,
): boolean {
  switch (operator) {
    case "=":
      return actual === value;
    case "<>":
      return actual !== value;
    case ">":
      return actual > value;
    case ">=":
      return actual >= value;
    case "<":
      return actual < value;
    case "<=":
      return actual <= value;
  }
}

interface Cursor {
  readonly tokens: readonly TagToken[];
  at: number;
}

function take(cursor: Cursor, kind: TagToken["kind"]): boolean {
  if (cursor.tokens[cursor.at]?.kind !== kind) return false;
  cursor.at += 1;
  return true;
}

function parseOr(cursor: Cursor): TagPredicate | undefined {
  let left = parseAnd(cursor);
  while (left !== undefined && take(cursor, "or")) {
    const right = parseAnd(cursor);
    left = right === undefined ? undefined : { kind: "or", left, right };
  }
  return left;
}

function parseAnd(cursor: Cursor): TagPredicate | undefined {
  let left = parseTerm(cursor);
  while (left !== undefined && take(cursor, "and")) {
    const right = parseTerm(cursor);
    left = right === undefined ? undefined : { kind: "and", left, right };
  }
  return left;
}

function parseTerm(cursor: Cursor): TagPredicate | undefined {
  if (!take(cursor, "(")) return parseComparison(cursor);
  const inner = parseOr(cursor);
  return take(cursor, ")") ? inner : undefined;
}

function parseComparison(cursor: Cursor): TagComparison | undefined {
  const [name, operator, value] = cursor.tokens.slice(cursor.at, cursor.at + 3);
  if (name?.kind !== "name") return undefined;
  if (operator?.kind !== "operator" || value?.kind !== "value") return undefined;
  cursor.at += 3;
  return { kind: "compare", name: name.text, operator: operator.text, value: value.text };
}
