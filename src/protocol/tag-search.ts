import { fail, ok, type Result } from "./result.ts";
import { invalidCharacter, tagNameUnitsMax, tagsMax, tagValueUnitsMax } from "./tag-set.ts";
import { scanTagTokens, tokenText, type ScannedTags, type TagToken } from "./tag-tokens.ts";
import type { TagComparison } from "./tags.ts";

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

/** Two bounds for each of ten tags. */
const termsMax = 2 * tagsMax;
/** Limit of this server for the length of `where`, in UTF-16 code units. */
export const whereUnitsMax = 4096;

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

/** The problem that the token at this index is not allowed there: names the token, the text that is
 *  no token, or the end of the text. */
function unexpected({ tokens, stoppedAt, text }: ScannedTags, index: number): Problem {
  const token = tokens[index];
  if (token !== undefined) return near(token.at, `unexpected '${tokenText(token)}'`);
  if (stoppedAt === undefined) return near(text.length + 1, "unexpected end of query");
  const character = String.fromCodePoint(text.codePointAt(stoppedAt - 1) ?? 0);
  return near(stoppedAt, `unexpected '${character}'`);
}
