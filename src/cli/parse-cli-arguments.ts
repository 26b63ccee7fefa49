import { parseArgs } from "node:util";

interface ArgumentOption {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** Whether the option may be repeated; its values are then in `lists`. */
  readonly multiple?: true;
}

type ParsedArguments =
  | {
      readonly ok: true;
      readonly texts: ReadonlyMap<string, string>;
      /** Values of options that may be repeated. */
      readonly lists: ReadonlyMap<string, readonly string[]>;
      readonly switches: ReadonlySet<string>;
      /** Words that belong to no option. */
      readonly others: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

/** Parses the words of a subcommand into options and other words, or returns the first problem. */
export function parseCliArguments(
  words: readonly string[],
  options: Readonly<Record<string, ArgumentOption>>,
): ParsedArguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options,
      allowPositionals: true,
    });
    const given = Object.entries(values);
    const empty = given.find(([, value]) => [value].flat().includes(""));
    if (empty !== undefined) return { ok: false, problem: `--${empty[0]} needs a value` };
    return {
      ok: true,
      texts: new Map(given.flatMap(([name, value]) => (isText(value) ? [[name, value]] : []))),
      lists: new Map(given.flatMap(([name, value]) => (isList(value) ? [[name, value]] : []))),
      switches: new Set(given.flatMap(([name, value]) => (value === true ? [name] : []))),
      others: positionals,
    };
  } catch (error) {
    const problem = firstSentence(error);
    const [, unknown] = /^Unknown option '(--[^']+)'/.exec(problem) ?? [];
    const names = Object.keys(options).map((name) => `--${name}`);
    const meant = unknown === undefined ? undefined : nearestName(unknown, names);
    return {
      ok: false,
      problem: meant === undefined ? problem : `${problem}; did you mean ${meant}?`,
    };
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

/** The first sentence of an error message. That of Node continues with advice that does not apply
 *  here. */
function firstSentence(error: unknown): string {
  const [first = ""] = (error instanceof Error ? error.message : String(error)).split(/\.\s/);
  return first;
}

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
