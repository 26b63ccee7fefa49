import { defaultLocation, flagDefaults, flags, isFlagName } from "../server/flags.ts";
import type { Flag, FlagName, FlagValues } from "../server/flags.ts";
import { nearestName } from "./parse-cli-arguments.ts";
import { serviceModeOf } from "./service-mode.ts";
import { subcommands } from "./subcommands.ts";

export type Command =
  | { readonly run: "help" }
  | { readonly run: "version" }
  /** `values` holds the flags that could be parsed, so that errors in their values are reported
   *  together with the syntax errors in `problems`. */
  | { readonly run: "serve"; readonly values: FlagValues; readonly problems: readonly string[] };

const leftColumns = 37;

type FlagValue = string | number | boolean;

const all: readonly (readonly [FlagName, Flag])[] = Object.keys(flags)
  .filter((name) => isFlagName(name))
  .map((name) => [name, flags[name]]);
const byLetter = new Map(all.flatMap(([name, { short }]) => (short ? [[short, name]] : [])));

/** Parses flags and values; `resolveOptions` validates them. */
export function parseCommandLine(words: readonly string[]): Command {
  const values: Partial<Record<FlagName, FlagValue>> = {};
  const problems: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "-h" || word === "--help") return { run: "help" };
    if (word === "-v" || word === "--version") return { run: "version" };
    const [spelled, attached] = splitAtEquals(word);
    const name = flagNamed(spelled);
    if (name === undefined) {
      problems.push(`${spelled}: ${whyUnknown(spelled)}`);
      continue;
    }
    if (values[name] !== undefined) problems.push(`${spelled}: given twice`);
    if (flags[name].kind === "switch") {
      values[name] = readSwitch(attached) ?? true;
      if (attached !== undefined && readSwitch(attached) === undefined) {
        problems.push(`${spelled}: takes true, false or no value`);
      }
      continue;
    }
    const following = words[index + 1];
    const taken = attached ?? (isValue(following) ? following : undefined);
    if (attached === undefined && taken !== undefined) index += 1;
    if (taken === undefined || taken === "") problems.push(`${spelled}: needs a value`);
    else values[name] = readValue(flags[name], taken);
  }
  return { run: "serve", values: values as FlagValues, problems };
}

/** A word may also be a value after an option that takes none, or a command after an option. */
function whyUnknown(spelled: string): string {
  const isCommand = subcommands.has(spelled) || serviceModeOf(spelled) !== undefined;
  if (isCommand) return "a command must come before all options";
  if (!spelled.startsWith("-")) return "no option before it takes a value";
  const meant = nearestName(
    spelled,
    Object.keys(flags).map((name) => `--${name}`),
  );
  const advice = meant === undefined ? "--help lists all" : `did you mean ${meant}?`;
  return `no such option; ${advice}`;
}

function splitAtEquals(word: string): readonly [string, string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function flagNamed(spelled: string): FlagName | undefined {
  if (/^-[a-zA-Z]$/.test(spelled)) return byLetter.get(spelled.slice(1));
  const name = spelled.startsWith("--") ? spelled.slice(2) : "";
  return isFlagName(name) ? name : undefined;
}

/** A value that begins with a hyphen must be attached with `=`; otherwise a flag without its value
 *  would consume the next flag. */
function isValue(word: string | undefined): word is string {
  return word !== undefined && !word.startsWith("-");
}

function readSwitch(text: string | undefined): boolean | undefined {
  return text === "true" ? true : text === "false" ? false : undefined;
}

function readValue(flag: Flag, text: string): FlagValue {
  // A text that is not a number is kept, so that the error message can show it.
  return flag.kind === "text" || !/^\d+(\.\d+)?$/.test(text) ? text : Number(text);
}

export function helpText(): string {
  const defaults: Readonly<Record<string, FlagValue>> = {
    ...flagDefaults,
    location: defaultLocation,
  };
  const lines = all.map(([name, { short, value, help }]) => {
    const left = `${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;
    const standard = value === undefined ? undefined : defaults[name];
    const right = standard === undefined ? help : `${help} (${String(standard)})`;
    return `  ${left.padEnd(leftColumns)} ${right}`;
  });
  return [
    "etagere: an Azure-Storage-compatible server",
    "",
    "usage: etagere [options]             serve all services; --name value or --name=value",
    "       etagere SERVICE [options]     serve one service: blob, queue, table or file",
    "       etagere COMMAND …             run a command; etagere COMMAND --help describes it",
    ...commandLines(),
    "",
    "options:",
    ...lines,
    `  ${"-v, --version".padEnd(leftColumns)} print the version`,
    `  ${"-h, --help".padEnd(leftColumns)} print this help`,
    "AZURITE_ACCOUNTS=name:key1[:key2];… replaces the development account devstoreaccount1.",
    "AZURITE_ACCOUNTS_FILE names a file that contains it. ETAGERE_ADMIN_TOKEN, ETAGERE_PWD and",
    "ETAGERE_STORE replace --adminToken, --pwd and --store.",
    "",
  ].join("\n");
}

function commandLines(): readonly string[] {
  const lines = [...subcommands.values()].map(
    ({ name, summary }) => `  ${name.padEnd(leftColumns)} ${summary}`,
  );
  return ["commands:", ...lines];
}
