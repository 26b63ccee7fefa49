/** The operator LIKE in the SQL of Query Blob Contents. Patterns come from clients, and some would
 *  take exponential time as a regular expression, which would block the server. */

/** A parsed LIKE pattern: `_` is any character, `%` any text. */
export interface LikePattern {
  /** The parts of the pattern between its `%`; a pattern without `%` has one segment. */
  readonly segments: readonly Segment[];
}

/** A part of a pattern between two `%`, or before the first or after the last one. */
interface Segment {
  readonly parts: readonly (string | typeof anyOne)[];
  /** The characters of a segment without `_`, which can be searched as a text; undefined with
   *  `_`. */
  readonly literal: string | undefined;
  /** For a long literal, the failure table of the Knuth-Morris-Pratt search: by offset, the length
   *  of the longest proper prefix of the literal that ends there. */
  readonly borders: Int32Array | undefined;
}

const anyOne = Symbol("_");

/** Longest literal for which the JavaScript engine's own search is used: it is faster, and for
 *  short literals not much slower in the worst case. */
const shortLiteralUnits = 8;

export function parseLike(pattern: string, escape: string): LikePattern {
  const segments: Segment[] = [];
  let parts: (string | typeof anyOne)[] = [];
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && escape !== "" && character === escape) {
      escaped = true;
      continue;
    }
    if (!escaped && character === "%") {
      segments.push(segmentOf(parts));
      parts = [];
    } else parts.push(!escaped && character === "_" ? anyOne : character);
    escaped = false;
  }
  segments.push(segmentOf(parts));
  return { segments };
}

function segmentOf(parts: Segment["parts"]): Segment {
  if (parts.includes(anyOne)) return { parts, literal: undefined, borders: undefined };
  const literal = parts.join("");
  const isShort = literal.length <= shortLiteralUnits;
  return { parts, literal, borders: isShort ? undefined : bordersOf(literal) };
}

function bordersOf(literal: string): Int32Array {
  const borders = new Int32Array(literal.length);
  for (let at = 1, length = 0; at < literal.length; at += 1) {
    while (length > 0 && literal[at] !== literal[length]) length = borders[length - 1]!;
    if (literal[at] === literal[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** Thrown if a pattern takes more than `stepsMax` steps for a record: the query fails. */
export class TooManyLikeSteps extends Error {
  override readonly name = "TooManyLikeSteps";
}

/** Most steps of the search of segments with `_` in one text, so that one record cannot block the
 *  server. A search for literal text takes time in proportion to the text and has no limit. */
const stepsMax = 1_000_000;

/** Whether a text matches a LIKE pattern. Each segment is searched after the preceding one; the
 *  first and the last one must be at the ends. */
export function matchesLike({ segments }: LikePattern, text: string): boolean {
  const first = segments[0]!;
  const afterFirst = endOfMatch(first, text, 0);
  if (afterFirst < 0) return false;
  if (segments.length === 1) return afterFirst === text.length;
  let at = afterFirst;
  const search = { steps: 0 };
  for (let index = 1; index < segments.length - 1; index += 1) {
    at = endOfFirstMatch(segments[index]!, text, at, search);
    if (at < 0) return false;
  }
  return matchesEnd(segments.at(-1)!, text, at);
}

/** Where a match of the segment that starts at `from` ends; -1 if the text does not match there. */
function endOfMatch({ parts, literal }: Segment, text: string, from: number): number {
  if (literal !== undefined) return text.startsWith(literal, from) ? from + literal.length : -1;
  let at = from;
  for (const part of parts) {
    if (at >= text.length) return -1;
    if (part === anyOne) at = afterCharacter(text, at);
    else if (text.startsWith(part, at)) at += part.length;
    else return -1;
  }
  return at;
}

/** Where the first match of the segment at or after `from` ends; -1 if there is none. */
function endOfFirstMatch(
  segment: Segment,
  text: string,
  from: number,
  search: { steps: number },
): number {
  const { literal, parts } = segment;
  if (literal !== undefined) {
    const found = indexOf(segment, literal, text, from);
    return found < 0 ? -1 : found + literal.length;
  }
  for (let at = from; at <= text.length; at = afterCharacter(text, at)) {
    search.steps += parts.length;
    if (search.steps > stepsMax) throw new TooManyLikeSteps("the pattern takes too long");
    const end = endOfMatch(segment, text, at);
    if (end >= 0) return end;
  }
  return -1;
}

function indexOf({ borders }: Segment, literal: string, text: string, from: number): number {
  if (borders === undefined) return text.indexOf(literal, from);
  let length = 0;
  for (let at = from; at < text.length; at += 1) {
    while (length > 0 && text[at] !== literal[length]) length = borders[length - 1]!;
    if (text[at] === literal[length]) length += 1;
    if (length === literal.length) return at + 1 - length;
  }
  return -1;
}

/** Whether the last segment of a pattern matches the end of the text, after `from`. */
function matchesEnd(segment: Segment, text: string, from: number): boolean {
  const { literal, parts } = segment;
  if (literal !== undefined) {
    return text.length - literal.length >= from && text.endsWith(literal);
  }
  let at = text.length;
  for (let count = 0; count < parts.length; count += 1) {
    if (at <= from) return false;
    at = beforeCharacter(text, at);
  }
  return at >= from && endOfMatch(segment, text, at) === text.length;
}

function afterCharacter(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? at + 2 : at + 1;
}

function beforeCharacter(text: string, at: number): number {
  return at >= 2 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? at - 2 : at - 1;
}
