import type { KeyBounds, KeyPart } from "../../encoding/keys.ts";
import { compareTag, type TagComparison, type Tags } from "../../protocol/tags.ts";

/** How a search uses the tag index. `join`: a merge join of all terms `tag = value`. `values`: a
 *  scan of the values of one tag, if no term is an equality. All terms are checked again on the
 *  found blob. */
export type SearchPlan =
  | { readonly walk: "join"; readonly equals: readonly (readonly [tag: string, value: string])[] }
  | { readonly walk: "values"; readonly tag: string; readonly terms: readonly TagComparison[] };

/** Chooses how to search; undefined without terms. */
export function planSearch(terms: readonly TagComparison[]): SearchPlan | undefined {
  const equals = new Map<string, readonly [string, string]>();
  for (const { name, operator, value } of terms) {
    if (operator === "=") equals.set(`${name}\u0000${value}`, [name, value]);
  }
  if (equals.size > 0) return { walk: "join", equals: [...equals.values()] };
  const tag = terms[0]?.name;
  if (tag === undefined) return undefined;
  return { walk: "values", tag, terms: terms.filter(({ name }) => name === tag) };
}

export interface ValueRange {
  readonly range: (parts: readonly KeyPart[]) => KeyBounds;
  readonly prefix: (parts: readonly KeyPart[]) => Uint8Array;
}

/** The range of index keys with the values of one tag that can satisfy the terms. `above` is the
 *  start of the key, up to the tag. */
export function valueBounds(
  table: ValueRange,
  above: readonly KeyPart[],
  terms: readonly TagComparison[],
): KeyBounds {
  let { start, end } = table.range(above);
  for (const { operator, value } of terms) {
    const at = table.range([...above, value]);
    if (operator === ">=") start = later(start, at.start);
    if (operator === ">") start = later(start, at.end);
    if (operator === "<") end = earlier(end, at.start);
    if (operator === "<=") end = earlier(end, at.end);
  }
  return { start, end };
}

function later(left: Uint8Array, right: Uint8Array): Uint8Array {
  return Buffer.compare(left, right) >= 0 ? left : right;
}

function earlier(left: Uint8Array, right: Uint8Array): Uint8Array {
  return Buffer.compare(left, right) <= 0 ? left : right;
}

/** The tags that the search names, with their values; undefined if a term is not satisfied. */
export function matchedTags(terms: readonly TagComparison[], tags: Tags): Tags | undefined {
  const matched: Record<string, string> = {};
  for (const term of terms) {
    if (!Object.hasOwn(tags, term.name)) return undefined;
    const value = tags[term.name] ?? "";
    if (!compareTag(value, term)) return undefined;
    matched[term.name] = value;
  }
  return matched;
}
