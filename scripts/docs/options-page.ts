import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { serverOptions } from "../../src/cli/command-line.ts";
import type { Command, Option } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { argumentWord, usageLine } from "../../src/cli/help.ts";
import { defaultLocation, flagDefaults } from "../../src/server/flags.ts";

const page = "docs/OPTIONS.md";

/** Replaces the tables of `document` by those of the present declarations. */
export function withOptionTables(document: string): string {
  const tables = { flags: flagTable(), commands: [...commands.values()].map(describe).join("\n") };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const begin = `<!-- ${name}:begin (npm run docs) -->\n`;
    const from = text.indexOf(begin) + begin.length;
    return `${text.slice(0, from)}\n${table}\n${text.slice(text.indexOf(`<!-- ${name}:end -->`))}`;
  }, document);
}

function flagTable(): string {
  const defaults: Readonly<Record<string, string | number | boolean>> = {
    ...flagDefaults,
    location: defaultLocation,
  };
  const rows = Object.entries(serverOptions).map(([name, option]) => {
    const standard = option.kind === "switch" ? "" : String(defaults[name] ?? "");
    return row([spell(name, option), standard === "" ? "" : `\`${standard}\``, option.help]);
  });
  return ["| flag | default | meaning |", "|---|---|---|", ...rows, ""].join("\n");
}

function describe(command: Command): string {
  const { name, summary, actions, options } = command;
  const rows = [
    ...Object.entries(actions).map(([action, { arguments: words, help }]) =>
      row([`\`${[action, ...words.map(argumentWord)].join(" ")}\``, help]),
    ),
    ...command.arguments.map(({ value, help = "" }) => row([`\`${value}\``, help])),
    ...Object.entries(options).map(([option, declared]) =>
      row([spell(option, declared), meaningOf(declared)]),
    ),
  ];
  const table = rows.length === 0 ? [] : ["| word | meaning |", "|---|---|", ...rows, ""];
  return [
    `### etagere ${name}`,
    "",
    `To ${summary}: \`${usageLine(command)}\`.`,
    "",
    ...table,
  ].join("\n");
}

function meaningOf({ actions, help }: Option): string {
  return actions === undefined ? help : `${actions.join(", ")}: ${help}`;
}

function spell(name: string, { short, value }: Option): string {
  const letter = short === undefined ? "" : `\`-${short}\`, `;
  return `${letter}\`--${name}${value === undefined ? "" : ` ${value}`}\``;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(page, withOptionTables(readFileSync(page, "utf8")));
}
