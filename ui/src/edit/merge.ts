/** A range of lines in the three texts: the common base and the two changed versions. */
export interface Chunk {
  readonly kind: "same" | "mine" | "theirs" | "both" | "conflict";
  readonly base: readonly string[];
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
}

export type Choice = "mine" | "theirs" | "both";

/** Pairs of lines that are compared, which bounds the time. In longer texts all lines count as
 *  changed. */
const pairsMax = 4_000_000;

/** Three-way merge by lines: changes of one side are taken, changes of both are conflicts. */
export function mergeLines(texts: {
  readonly base: string;
  readonly mine: string;
  readonly theirs: string;
}): readonly Chunk[] {
  const base = texts.base.split("\n");
  const mine = texts.mine.split("\n");
  const theirs = texts.theirs.split("\n");
  const inMine = matchesOf(base, mine);
  const inTheirs = matchesOf(base, theirs);
  const chunks: Chunk[] = [];
  let at = { base: 0, mine: 0, theirs: 0 };
  const flush = (to: typeof at): void => {
    const chunk = classify({
      base: base.slice(at.base, to.base),
      mine: mine.slice(at.mine, to.mine),
      theirs: theirs.slice(at.theirs, to.theirs),
    });
    if (chunk !== undefined) chunks.push(chunk);
    at = to;
  };
  for (let line = 0; line < base.length; line += 1) {
    const toMine = inMine[line] ?? -1;
    const toTheirs = inTheirs[line] ?? -1;
    if (toMine < at.mine || toTheirs < at.theirs) continue;
    flush({ base: line, mine: toMine, theirs: toTheirs });
    addSame(chunks, base[line] ?? "");
    at = { base: line + 1, mine: toMine + 1, theirs: toTheirs + 1 };
  }
  flush({ base: base.length, mine: mine.length, theirs: theirs.length });
  return chunks;
}

function addSame(chunks: Chunk[], line: string): void {
  const last = chunks.at(-1);
  const lines = last?.kind === "same" ? [...last.base, line] : [line];
  const chunk: Chunk = { kind: "same", base: lines, mine: lines, theirs: lines };
  if (last?.kind === "same") chunks[chunks.length - 1] = chunk;
  else chunks.push(chunk);
}

function classify(parts: Omit<Chunk, "kind">): Chunk | undefined {
  const { base, mine, theirs } = parts;
  if (base.length + mine.length + theirs.length === 0) return undefined;
  if (isEqual(mine, theirs)) return { kind: "both", ...parts };
  if (isEqual(base, theirs)) return { kind: "mine", ...parts };
  if (isEqual(base, mine)) return { kind: "theirs", ...parts };
  return { kind: "conflict", ...parts };
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}

/** For each line of `from` the matching line of `to`, or -1: a longest common subsequence. */
export function matchesOf(from: readonly string[], to: readonly string[]): Int32Array {
  const matches = new Int32Array(from.length).fill(-1);
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) {
    matches[start] = start;
    start += 1;
  }
  let end = 0;
  while (
    end < from.length - start &&
    end < to.length - start &&
    from[from.length - 1 - end] === to[to.length - 1 - end]
  ) {
    matches[from.length - 1 - end] = to.length - 1 - end;
    end += 1;
  }
  const rows = from.length - start - end;
  const columns = to.length - start - end;
  if (rows * columns === 0 || rows * columns > pairsMax) return matches;
  const lengths = commonLengths(from.slice(start, start + rows), to.slice(start, start + columns));
  for (let row = 0, column = 0; row < rows && column < columns;) {
    const at = row * (columns + 1) + column;
    if (from[start + row] === to[start + column]) {
      matches[start + row] = start + column;
      row += 1;
      column += 1;
    } else if ((lengths[at + columns + 1] ?? 0) >= (lengths[at + 1] ?? 0)) row += 1;
    else column += 1;
  }
  return matches;
}

/** Lengths of the longest common subsequences of all pairs of suffixes, row by row. */
function commonLengths(from: readonly string[], to: readonly string[]): Int32Array {
  const width = to.length + 1;
  const lengths = new Int32Array((from.length + 1) * width);
  for (let row = from.length - 1; row >= 0; row -= 1) {
    for (let column = to.length - 1; column >= 0; column -= 1) {
      const at = row * width + column;
      lengths[at] =
        from[row] === to[column]
          ? (lengths[at + width + 1] ?? 0) + 1
          : Math.max(lengths[at + width] ?? 0, lengths[at + 1] ?? 0);
    }
  }
  return lengths;
}

/** The merged text; an undecided conflict contains both sides between marks. */
export function mergedText(
  chunks: readonly Chunk[],
  choices: readonly (Choice | undefined)[],
): string {
  let conflict = -1;
  const lines = chunks.flatMap((chunk) => {
    if (chunk.kind === "theirs") return chunk.theirs;
    if (chunk.kind !== "conflict") return chunk.mine;
    conflict += 1;
    const choice = choices[conflict];
    if (choice === "mine") return chunk.mine;
    if (choice === "theirs") return chunk.theirs;
    if (choice === "both") return [...chunk.theirs, ...chunk.mine];
    return ["<<<<<<< yours", ...chunk.mine, "=======", ...chunk.theirs, ">>>>>>> theirs"];
  });
  return lines.join("\n");
}

export function hasMarks(text: string): boolean {
  return /^(<<<<<<< yours|>>>>>>> theirs)$/m.test(text);
}
