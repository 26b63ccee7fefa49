import { parseArgs } from "node:util";
import { nearestName } from "./nearest.ts";

export interface ArgumentOption {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** Whether the option may be repeated; its values are then in `lists`. */
  readonly multiple?: true;
}

export type ParsedArguments =
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
