import type { Argument, Command, Declaration, Option, Options } from "./command.ts";
import { commonOptions } from "./parse-words.ts";

/** Texts of `--help`, made from the declarations of commands: two columns, names on the left and
 *  what they mean on the right. A name of more than 37 columns has its meaning in the next line. */

const columnsMax = 100;
const leftColumnsMax = 37;

/** The text of `etagere NAME --help`, in sections separated by empty lines. */
export function commandHelp(declared: Declaration): string {
  const { description, notes = [], actions, options, exitCodes, example } = declared;
  const rows = [
    ...declared.arguments.map((each) => ({ left: each.value, right: each.help ?? "" })),
    ...optionRows({ ...options, ...commonOptions }),
  ];
  const sections = [
    ...description.map((text) => wrapped(text)),
    tableOf(
      Object.entries(actions).map(([name, action]) => ({
        left: [name, ...action.arguments.map(argumentWord)].join(" "),
        right: action.help,
      })),
    ),
    tableOf(rows),
    ...notes.map((text) => wrapped(text)),
    [
      `exit code: ${exitCodes.map((meaning, code) => `${code} ${meaning}`).join(", ")}`,
      `example:   ${example}`,
    ],
  ];
  const shown = sections.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  return `usage: ${usageLine(declared)}\n\n${shown.join("\n\n")}\n`;
}

/** What a command prints on standard error if the words after its name cannot be parsed. */
export function usageError(declared: Declaration, problems: readonly string[]): string {
  return [
    ...problems.map((problem) => `etagere ${declared.name}: ${problem}`),
    `usage: ${usageLine(declared)}`,
    `etagere ${declared.name} --help describes all options.`,
    "",
  ].join("\n");
}

export function usageLine(
  declared: Pick<Declaration, "name" | "arguments" | "actions" | "options" | "oneOf">,
): string {
  const { name, actions, options, oneOf = [] } = declared;
  const names = Object.keys(actions);
  const required = Object.entries(options).filter(([, { isRequired }]) => isRequired === true);
  const groups = oneOf.map((group) =>
    group.map((each) => `--${each} ${options[each]?.value ?? ""}`.trimEnd()).join(" | "),
  );
  const isFree = Object.keys(options).length > required.length + oneOf.flat().length;
  const words = [
    ...(names.length === 0 ? [] : [`${names.join("|")} …`]),
    ...declared.arguments.map(argumentWord),
    ...required.map(([each, { value }]) => `--${each} ${value}`),
    ...groups.map((group) => `(${group})`),
    ...(isFree ? ["[options]"] : []),
  ];
  return ["etagere", name, ...words].join(" ");
}

export function argumentWord({ value, isOptional, isList }: Argument): string {
  const shown = isOptional || isList ? `[${value}]` : value;
  return isList ? `${shown}…` : shown;
}

interface Row {
  readonly left: string;
  readonly right: string;
}

/** Makes a row of each option: `-l, --location FOLDER` and its description, with the default. */
function optionRows(
  options: Options,
  defaults: Readonly<Record<string, string | number | boolean>> = {},
): readonly Row[] {
  return Object.entries(options).map(([name, option]) => {
    const standard = option.kind === "switch" ? undefined : defaults[name];
    const right = standard === undefined ? "" : ` (${String(standard)})`;
    return { left: optionWord(name, option), right: `${describe(option)}${right}` };
  });
}

/** The help of an option that only some actions of the command accept, as `create: …`, names these
 *  actions first. */
function describe({ actions, help }: Option): string {
  return actions === undefined ? help : `${actions.join(", ")}: ${help}`;
}

function optionWord(name: string, { short, value }: Option): string {
  return `${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;
}

function tableOf(rows: readonly Row[], columns?: number): readonly string[] {
  const lengths = rows.map(({ left }) => left.length).filter((length) => length <= leftColumnsMax);
  const width = columns ?? Math.max(0, ...lengths);
  return rows.flatMap(({ left, right }) => {
    const [first = "", ...more] = wrapped(right, columnsMax - width - 5);
    const indent = " ".repeat(width + 5);
    const begin =
      left.length > width ? [`  ${left}`, indent + first] : [`  ${left.padEnd(width)}   ${first}`];
    return [...begin, ...more.map((line) => indent + line)].map((line) => line.trimEnd());
  });
}

function wrapped(text: string, columns = columnsMax): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    const isNew = last === undefined || last.length + 1 + word.length > columns;
    if (isNew) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

interface ServerHelp {
  readonly commands: Iterable<Pick<Command, "name" | "summary">>;
  readonly options: Options;
  readonly defaults: Readonly<Record<string, string | number | boolean>>;
}

export function serverHelp({ commands, options, defaults }: ServerHelp): string {
  const rows = [...commands].map(({ name, summary }) => ({ left: name, right: summary }));
  return [
    "etagere: an Azure-Storage-compatible server",
    "",
    "usage: etagere [options]             serve all services; --name value or --name=value",
    "       etagere SERVICE [options]     serve one service: blob, queue, table or file",
    "       etagere COMMAND …             run a command; etagere COMMAND --help describes it",
    "commands:",
    ...tableOf(rows, leftColumnsMax - 2),
    "",
    "options:",
    ...tableOf(optionRows(options, defaults), leftColumnsMax - 2),
    "AZURITE_ACCOUNTS=name:key1[:key2];… replaces the development account devstoreaccount1.",
    "AZURITE_ACCOUNTS_FILE names a file that contains it. ETAGERE_ADMIN_TOKEN, ETAGERE_PWD and",
    "ETAGERE_STORE replace --adminToken, --pwd and --store.",
    "",
  ].join("\n");
}
