/** A parsed LIKE pattern: literal characters, `_` (any character) and `%` (any text). */
export type LikePattern = readonly (string | typeof anyOne | typeof anyMany)[];

const anyOne = Symbol("_");
const anyMany = Symbol("%");

export function parseLike(pattern: string, escape: string): LikePattern {
  const parts: LikePattern[number][] = [];
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && escape !== "" && character === escape) {
      escaped = true;
      continue;
    }
    if (escaped) parts.push(character);
    else if (character === "_") parts.push(anyOne);
    else if (character !== "%") parts.push(character);
    else if (parts.at(-1) !== anyMany) parts.push(anyMany);
    escaped = false;
  }
  return parts;
}

/** Whether a text matches a pattern. Backtracks only to the last `%`, so that the time is at most
 *  text length × pattern length. A regular expression would take exponential time for some
 *  patterns. */
export function matchesLike(pattern: LikePattern, text: string): boolean {
  const characters = Array.from(text);
  let at = 0;
  let part = 0;
  let resumePart = -1;
  let resumeAt = 0;
  while (at < characters.length) {
    const wanted = pattern[part];
    if (wanted === anyMany) {
      resumePart = part;
      resumeAt = at;
      part += 1;
    } else if (wanted === anyOne || wanted === characters[at]) {
      part += 1;
      at += 1;
    } else if (resumePart >= 0) {
      resumeAt += 1;
      at = resumeAt;
      part = resumePart + 1;
    } else return false;
  }
  while (pattern[part] === anyMany) part += 1;
  return part === pattern.length;
}
