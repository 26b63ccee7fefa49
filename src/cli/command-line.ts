import {
  defaultLocation,
  flagDefaults,
  flags,
  flagValueOf,
  type FlagName,
  type FlagValues,
} from "../server/flags.ts";
import { commands, isCommandName } from "./commands.ts";
import type { Options } from "./command.ts";
import { serverHelp } from "./help.ts";
import { commonOptions, splitWords } from "./parse-words.ts";

/** Parses a command line that begins with no command, and has the text of `etagere --help`. The
 *  words of all other commands are parsed by `parse-words.ts` alone. */

/** What a command line that begins with no command asks for: in most cases to serve. */
export type ServerCommand =
  | { readonly run: "help" }
  | { readonly run: "version" }
  /** `values` holds the flags that could be parsed, so that errors in their values are reported
   *  together with the syntax errors in `problems`. */
  | { readonly run: "serve"; readonly values: FlagValues; readonly problems: readonly string[] };

/** The options of `etagere` without a command, and of `etagere blob`, which serves one service. */
export const serverOptions: Options = {
  ...flags,
  version: { kind: "switch", short: "v", help: "print the version" },
  ...commonOptions,
};

/** Parses the flags of a server; `resolveOptions` in `server/options.ts` validates their values. */
export function parseCommandLine(words: readonly string[]): ServerCommand {
  const { values, others, problems } = splitWords(words, serverOptions);
  const { help, version, ...given } = values;
  if (help !== undefined) return { run: "help" };
  if (version !== undefined) return { run: "version" };
  const read = Object.entries(given).map(([name, value]) => [
    name,
    typeof value === "string" ? flagValueOf(name as FlagName, value) : value,
  ]);
  return {
    run: "serve",
    values: Object.fromEntries(read) as FlagValues,
    problems: [...problems, ...others.map((word) => `${word}: ${whyUnexpected(word)}`)],
  };
}

/** The error for a word that is no option: it is a value after a switch, or a command after an
 *  option. */
function whyUnexpected(word: string): string {
  return isCommandName(word)
    ? "a command must come before all options"
    : "no option before it takes a value";
}

export function helpText(): string {
  const defaults = { ...flagDefaults, location: defaultLocation };
  return serverHelp({ commands: commands.values(), options: serverOptions, defaults });
}
