import type { Argument, Declaration, Option, Options } from "./command.ts";

type Value = string | boolean | readonly string[];

/** Parses the words of a command line by a declaration, for the server (`splitWords`) and for every
 *  other command (`readWords`), and finds the name that a mistyped word probably means. */

/** The words of a command line, assigned to options. */
interface SplitWords {
  readonly values: Readonly<Record<string, Value>>;
  /** Words that are neither options nor values of options. */
  readonly others: readonly string[];
  readonly problems: readonly string[];
}

/** Separates options from other words: `--name value`, `--name=value`, `-n value`, `-nvalue`; after
 *  `--` no word is an option. Does not check the values. */
export function splitWords(words: readonly string[], options: Options): SplitWords {
  const values: Record<string, Value> = {};
  const others: string[] = [];
  const problems: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--") {
      others.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      others.push(word);
      continue;
    }
    const { spelled, name, attached } = findOption(word, options);
    const option = name === undefined ? undefined : options[name];
    if (name === undefined || option === undefined) {
      problems.push(`${spelled}: no such option; ${adviceFor(spelled, options)}`);
      continue;
    }
    const isRepeated = Object.hasOwn(values, name);
    if (isRepeated && option.isList !== true) problems.push(`${spelled}: given twice`);
    if (option.kind === "switch") {
      values[name] = attached !== "false";
      const isBoolean = attached === undefined || attached === "true" || attached === "false";
      if (!isBoolean) problems.push(`${spelled}: takes true, false or no value`);
      continue;
    }
    const next = words[index + 1];
    const isNextTaken = attached === undefined && isValue(next, option);
    const taken = isNextTaken ? next : (attached ?? "");
    // An empty word is the value, too: a variable of a script that is not set, for example.
    if (isNextTaken) index += 1;
    if (taken === "") problems.push(`${spelled}: needs a value`);
    else values[name] = option.isList ? [...((values[name] ?? []) as string[]), taken] : taken;
  }
  return { values, others, problems };
}

interface FoundOption {
  /** The name of the option as it was written. */
  readonly spelled: string;
  readonly name: string | undefined;
  /** The value if it is in the same word as the option (`--name=value`). */
  readonly attached: string | undefined;
}

function findOption(word: string, options: Options): FoundOption {
  const equals = word.indexOf("=");
  const spelled = equals < 0 ? word : word.slice(0, equals);
  const attached = equals < 0 ? undefined : word.slice(equals + 1);
  if (word.startsWith("--")) {
    const name = spelled.slice(2);
    return { spelled, name: Object.hasOwn(options, name) ? name : undefined, attached };
  }
  const letter = word.slice(1, 2);
  const name = Object.keys(options).find((each) => options[each]?.short === letter);
  if (spelled.length === 2) return { spelled, name, attached };
  const takesValue = name !== undefined && options[name]?.kind !== "switch";
  return takesValue
    ? { spelled: `-${letter}`, name, attached: word.slice(2) }
    : { spelled, name: undefined, attached };
}

/** A value that begins with a hyphen must be attached with `=`; otherwise an option without its
 *  value would consume the next one. */
function isValue(word: string | undefined, { kind }: Option): word is string {
  if (word === undefined) return false;
  return word === "-" ? kind === "stream" : !word.startsWith("-");
}

function adviceFor(spelled: string, options: Options): string {
  const names = Object.keys(options).map((name) => `--${name}`);
  const meant = nearestName(spelled, names);
  return meant === undefined ? "--help lists all" : `did you mean ${meant}?`;
}

/** The options that every command accepts. */
export const commonOptions = {
  help: { kind: "switch", short: "h", help: "print this help" },
} as const satisfies Options;

interface ReadWords {
  readonly given: {
    readonly action: string;
    readonly words: readonly string[];
    readonly options: Readonly<Record<string, Value | undefined>>;
  };
  readonly asksForHelp: boolean;
  /** Why the words do not agree with the declaration; empty if they do. */
  readonly problems: readonly string[];
}

/** Parses the words after the name of a command and checks them against its declaration. */
export function readWords(words: readonly string[], declared: Declaration): ReadWords {
  const split = splitWords(words, { ...declared.options, ...commonOptions });
  const { help, ...values } = split.values;
  const actions = Object.keys(declared.actions);
  const [first, ...rest] = split.others;
  const action = actions.length === 0 ? "" : (first ?? "");
  const given = actions.length === 0 ? split.others : rest;
  const isAction = actions.length === 0 || actions.includes(action);
  const expected = declared.actions[action]?.arguments ?? declared.arguments;
  const groups = [declared.actions[action]?.oneOf ?? [], ...(declared.oneOf ?? [])];
  const checked = [
    ...(isAction
      ? wordProblems(action, given, expected)
      : [actionProblem(first, { name: declared.name, actions })]),
    ...optionProblems(values, declared.options, isAction ? action : ""),
    ...groups.flatMap((group) => groupProblems(values, group)),
  ];
  return {
    given: { action, words: given, options: withDefaults(declared.options, values) },
    asksForHelp: help === true,
    // After an unknown option, the next word may be its value rather than an argument.
    problems: split.problems.length > 0 ? split.problems : checked,
  };
}

/** Adds the options that were not given: switches as false, lists as empty, others as undefined. */
function withDefaults(
  options: Options,
  values: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value | undefined>> {
  const defaults = Object.entries(options).map(([name, { kind, isList }]) => {
    return [name, kind === "switch" ? false : isList ? [] : undefined] as const;
  });
  return { ...Object.fromEntries(defaults), ...values };
}

function actionProblem(
  word: string | undefined,
  { name, actions }: { readonly name: string; readonly actions: readonly string[] },
): string {
  if (word === undefined) return `${listed(actions, "or")} is required`;
  const meant = nearestName(word, actions);
  const advice =
    meant === undefined ? `it has ${listed(actions, "and")}` : `did you mean ${meant}?`;
  return `${word}: no such action of ${name}; ${advice}`;
}

function wordProblems(
  action: string,
  words: readonly string[],
  expected: readonly Argument[],
): readonly string[] {
  const prefix = action === "" ? "" : `${action}: `;
  const wrong = words.flatMap((word, index) => {
    const argument = expected[index] ?? expected.at(-1);
    const isExpected = index < expected.length || argument?.isList === true;
    if (!isExpected) return [`${prefix}unexpected word ${JSON.stringify(word)}`];
    const problem = argument === undefined ? undefined : valueProblem(argument, word);
    return problem === undefined ? [] : [`${prefix}${argument?.value} ${problem}`];
  });
  const missing = expected
    .slice(words.length)
    .filter(({ isOptional, isList }) => isOptional !== true && isList !== true)
    .map(({ value }) => `${prefix}${value} is required`);
  return [...wrong, ...missing];
}

function optionProblems(
  values: Readonly<Record<string, Value>>,
  options: Options,
  action: string,
): readonly string[] {
  return Object.entries(options).flatMap(([name, option]) => {
    const value = values[name];
    if (value === undefined) return option.isRequired ? [`--${name} is required`] : [];
    const { actions = [action], excludes = [] } = option;
    const problem = typeof value === "string" ? valueProblem(option, value) : undefined;
    const verb = actions.length === 1 ? "takes" : "take";
    return [
      ...(problem === undefined ? [] : [`--${name} ${problem}`]),
      ...(actions.includes(action) || action === ""
        ? []
        : [`only ${listed(actions, "and")} ${verb} --${name}`]),
      ...excludes
        .filter((other) => values[other] !== undefined)
        .map((other) => `--${name} contradicts --${other}`),
    ];
  });
}

/** Returns a problem unless exactly one option of a group (`oneOf` in the declaration) is given. */
function groupProblems(
  values: Readonly<Record<string, Value>>,
  group: readonly string[],
): readonly string[] {
  const count = group.filter((name) => values[name] !== undefined).length;
  if (group.length === 0 || count === 1) return [];
  const names = group.map((name) => `--${name}`);
  return [`one of ${listed(names, "and")} is required${count === 0 ? "" : ", and only one"}`];
}

function valueProblem(
  { kind, choices = [] }: Pick<Option, "kind" | "choices">,
  value: string,
): string | undefined {
  if (kind === "choice" && !choices.includes(value)) {
    return `must be ${listed(choices, "or")}, not ${JSON.stringify(value)}`;
  }
  const isHttp = /^https?:\/\//.test(value);
  return kind === "http" && !isHttp ? "must begin with http:// or https://" : undefined;
}

/** Joins names to a list: `a, b or c`. */
function listed(names: readonly string[], conjunction: "and" | "or"): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} ${conjunction} ${names.at(-1)}`;
}

/** A mistyped word that differs from a name by more edits probably does not mean it. */
const editsMax = 2;
/** Longer words are not compared, which would take long: no name has so many characters. */
const unitsMax = 40;

/** The name closest to a mistyped word, for error messages; undefined if none is close. */
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
