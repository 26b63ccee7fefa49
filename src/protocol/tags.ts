import { invalidHeader } from "./faults.ts";
import { fail, ok, type Result } from "./result.ts";
import { decodePercent } from "./names.ts";

/** Blob index tags: parsing of tags, of conditions on them (`x-ms-if-tags`) and of the filter of
 *  Find Blobs by Tags, whose small languages share the tokens. Used by the operations of
 *  `blob/tags` and by all conditions. */

/** The tags of a blob: values by name, at most ten. */
export type Tags = Readonly<Record<string, string>>;

type TagOperator = "=" | "<>" | ">" | ">=" | "<" | "<=";

/** A comparison of one tag with a value. */
export interface TagComparison {
  readonly kind: "compare";
  readonly name: string;
  readonly operator: TagOperator;
  readonly value: string;
}

/** A parsed `x-ms-if-tags` header: a condition on the tags of a blob. */
export type TagPredicate =
  | TagComparison
  | { readonly kind: "and" | "or"; readonly left: TagPredicate; readonly right: TagPredicate };

/** Most `and` and `or` in an expression; Azure rejects more. */
const logicalOperatorsMax = 10;
/** Most parentheses in an expression; bounds the recursion of the parser. */
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

/** Whether the value of a tag fulfils a comparison; texts are compared. */
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

// Azure's limits of the tags of a blob; lengths are in UTF-16 code units.
const tagsMax = 10;
const tagNameUnitsMax = 128;
const tagValueUnitsMax = 256;

const invalidCharacterPattern = /[^A-Za-z0-9 +\-./:=_]/u;

/** The first character that Azure allows neither in names nor in values of tags, if there is
 *  one. */
function invalidCharacter(text: string): string | undefined {
  return invalidCharacterPattern.exec(text)?.[0];
}

/** Validates the tags of one blob, which come from a header or from XML. */
export function checkTags(pairs: readonly (readonly [string, string])[]): Result<Tags> {
  if (pairs.length > tagsMax) return fail("TagsTooLarge");
  const names = new Set<string>();
  for (const [name, value] of pairs) {
    if (name === "") return fail("EmptyTagName");
    if (name.length > tagNameUnitsMax || value.length > tagValueUnitsMax) {
      return fail("TagsTooLarge");
    }
    if (invalidCharacterPattern.test(name) || invalidCharacterPattern.test(value))
      return fail("InvalidTags");
    if (names.has(name)) return fail("DuplicateTagNames");
    names.add(name);
  }
  // `fromEntries` defines own properties, so that a tag may have the name `__proto__`.
  return ok(Object.fromEntries(pairs));
}

/** Parses `x-ms-tags`: `name=value&name=value`, both URL-encoded. An empty text is an empty set,
 *  which removes all tags. */
export function parseTagsHeader(text: string, headerName = "x-ms-tags"): Result<Tags> {
  if (text === "") return ok({});
  const pairs: (readonly [string, string])[] = [];
  for (const part of text.replaceAll("+", " ").split("&")) {
    const equals = part.indexOf("=");
    const name = decodePercent(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? "" : decodePercent(part.slice(equals + 1));
    if (name === undefined || value === undefined) return invalidHeader(headerName, text);
    pairs.push([name, value]);
  }
  return checkTags(pairs);
}

/** The parsed filter of Find Blobs by Tags: every term must match. Without `container` it applies
 *  to all containers. */
export interface TagSearch {
  readonly container?: string;
  readonly terms: readonly TagComparison[];
}

export interface TagSearchOptions {
  /** Whether `@container` is allowed, which a search inside one container does not allow. */
  readonly takesContainer: boolean;
}

/** Most comparisons in a filter: a lower and an upper bound for each of ten tags. */
const termsMax = 2 * tagsMax;
/** Longest `where` of a search, in UTF-16 code units. Ten tags with two bounds each need less. */
const whereUnitsMax = 4096;

/** Parses the `where` of Find Blobs by Tags: comparisons of tags or `@container`, joined by AND.
 *  `<>` and parentheses are not allowed. Faults have the service's messages. */
export function parseTagSearch(text: string, options: TagSearchOptions): Result<TagSearch> {
  if (text.length > whereUnitsMax) return invalidSearch(text, `the query is too long`);
  const found = readSearch(scanTagTokens(text), options);
  return "problem" in found ? invalidSearch(text, found.problem) : ok(found);
}

function invalidSearch(text: string, problem: string): Result<never> {
  const separator = problem.startsWith("at or near") ? " " : ": ";
  return fail("InvalidQueryParameterValue", {
    message: `Error parsing query${separator}${problem}`,
    elements: { QueryParameterName: "where", QueryParameterValue: text },
  });
}

interface Problem {
  readonly problem: string;
}

function near(at: number, reason: string): Problem {
  return { problem: `at or near character position ${at}: ${reason}` };
}

function readSearch(scanned: ScannedTags, options: TagSearchOptions): TagSearch | Problem {
  const terms: TagComparison[] = [];
  const names = new Set<string>();
  let container: string | undefined;
  for (let at = 0; ; at += 4) {
    const term = readTerm(scanned, at, options);
    if ("problem" in term) return term;
    if (term.name === "@container") {
      if (container !== undefined) return unexpected(scanned, at);
      container = term.value;
    } else {
      terms.push(term);
      names.add(term.name);
    }
    if (names.size > tagsMax || terms.length > termsMax) {
      return { problem: `there can be at most ${tagsMax} unique tags in a query` };
    }
    if (scanned.stoppedAt === undefined && at + 3 === scanned.tokens.length) {
      return container === undefined ? { terms } : { container, terms };
    }
    if (scanned.tokens[at + 3]?.kind !== "and") return unexpected(scanned, at + 3);
  }
}

function readTerm(
  scanned: ScannedTags,
  at: number,
  options: TagSearchOptions,
): TagComparison | Problem {
  const [name, operator, value] = scanned.tokens.slice(at, at + 3);
  if (name?.kind !== "name" && name?.kind !== "parameter") return unexpected(scanned, at);
  const unfit = name.kind === "name" ? checkName(name) : checkParameter(name, options);
  if (unfit !== undefined) return unfit;
  if (operator?.kind !== "operator" || operator.text === "<>") return unexpected(scanned, at + 1);
  if (name.kind === "parameter" && operator.text !== "=") return unexpected(scanned, at + 1);
  if (value?.kind !== "value") return unexpected(scanned, at + 2);
  const wrong = checkValue(value);
  if (wrong !== undefined) return wrong;
  return { kind: "compare", name: name.text, operator: operator.text, value: value.text };
}

type Word = Extract<TagToken, { readonly text: string }>;

function checkParameter({ text, at }: Word, options: TagSearchOptions): Problem | undefined {
  const isKnown = options.takesContainer && text === "@container";
  return isKnown ? undefined : near(at, `unsupported parameter '${text}'`);
}

function checkName({ text, at }: Word): Problem | undefined {
  if (text.length < 1 || text.length > tagNameUnitsMax) {
    return near(at, `tag must be between 1 and ${tagNameUnitsMax} characters in length`);
  }
  return checkCharacters({ text, at });
}

function checkValue({ text, at }: Word): Problem | undefined {
  if (text.length > tagValueUnitsMax) {
    return near(at, `tag value must be between 0 and ${tagValueUnitsMax} characters in length`);
  }
  return checkCharacters({ text, at });
}

function checkCharacters({ text, at }: Pick<Word, "text" | "at">): Problem | undefined {
  const wrong = invalidCharacter(text);
  return wrong === undefined
    ? undefined
    : near(at, `'${wrong}' not permitted in tag name or value`);
}

/** The problem that a token, the one at `index`, is not allowed at its place. Names the token, the
 *  text that is no token, or the end of the text. */
function unexpected({ tokens, stoppedAt, text }: ScannedTags, index: number): Problem {
  const token = tokens[index];
  if (token !== undefined)
    return near(token.at, `unexpected '${"text" in token ? token.text : token.kind}'`);
  if (stoppedAt === undefined) return near(text.length + 1, "unexpected end of query");
  const character = String.fromCodePoint(text.codePointAt(stoppedAt - 1) ?? 0);
  return near(stoppedAt, `unexpected '${character}'`);
}

/** A token of a tag expression. `at` is its position in the text, counted from 1. */
type TagToken =
  | { readonly kind: "name" | "value" | "parameter"; readonly text: string; readonly at: number }
  | { readonly kind: "operator"; readonly text: TagOperator; readonly at: number }
  | { readonly kind: "and" | "or" | "(" | ")"; readonly at: number };

interface ScannedTags {
  readonly text: string;
  readonly tokens: readonly TagToken[];
  /** Position, counted from 1, of the first text that is no token; undefined if there is none. */
  readonly stoppedAt: number | undefined;
}

const operators: ReadonlySet<string> = new Set<TagOperator>(["=", "<>", ">", ">=", "<", "<="]);

/** Matches one token with the white space before it. Quoted text has quotation marks doubled. */
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

/** Most tokens of one expression, which bounds the time of its parsing. */
const tokensMax = 1000;

/** Splits a text into tokens up to the first text that is none, so that the fault can name its
 *  position. */
function scanTagTokens(written: string): ScannedTags {
  const text = written.trimEnd();
  const tokens: TagToken[] = [];
  // A copy of the expression: with the flag `y` it remembers its position between two calls.
  const pattern = new RegExp(tokenPattern);
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex;
    const found = pattern.exec(text);
    const token = found === null ? undefined : tokenOf(found);
    if (token === undefined || tokens.length >= tokensMax) {
      return { text, tokens, stoppedAt: start + spacesAt(text, start) + 1 };
    }
    tokens.push(token);
  }
  return { text, tokens, stoppedAt: undefined };
}

/** Splits a text into tokens; undefined if it contains anything else. */
function parseTagTokens(text: string): readonly TagToken[] | undefined {
  const { tokens, stoppedAt } = scanTagTokens(text);
  return stoppedAt === undefined ? tokens : undefined;
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
