/** A name that differs by more edits is not suggested. */
const editsMax = 2;
/** Longer words are not compared; no name is so long. */
const unitsMax = 40;

/** The name closest to a mistyped word; undefined if none is close. */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  if (word.length > unitsMax) return undefined;
  let best: string | undefined;
  // A short word may differ by fewer edits: two would turn it into almost any other.
  let bestEdits = Math.min(editsMax, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    const edits = editsBetween(word.toLowerCase(), name.toLowerCase());
    if (edits >= bestEdits) continue;
    best = name;
    bestEdits = edits;
  }
  return best;
}

/** The number of edits between two words. An edit inserts, deletes or replaces a character, or
 *  swaps two adjacent ones. */
function editsBetween(from: string, to: string): number {
  let earlier: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + (to[at - 1] === from[index] ? 0 : 1);
      const isSwapped = to[at - 1] === from[index - 1] && to[at - 2] === from[index];
      const swapped = isSwapped ? (earlier[at - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    earlier = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
