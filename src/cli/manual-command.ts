import { readVersion } from "../host/version.ts";
import { defineCommand, type Command, type Options } from "./command.ts";
import { argumentWord, usageLine } from "./help.ts";

/** `etagere manual`: prints the manual page for `man`, made from the declarations of all commands
 *  and from the options of the server. Packages install it as etagere.1. */
export const manualCommand = defineCommand({
  name: "manual",
  summary: "print the manual page",
  description: [
    "Prints the manual page in the format of man: all options of the server and all commands.",
  ],
  exitCodes: ["the page was printed"],
  example: "etagere manual > /usr/local/share/man/man1/etagere.1",
  run: async () => {
    // Imported here, because `commands.ts` imports this file.
    const { commands } = await import("./commands.ts");
    const { serverOptions } = await import("./command-line.ts");
    return { text: manualPage([...commands.values()], serverOptions) };
  },
});

function manualPage(commands: readonly Command[], serverOptions: Options): string {
  return [
    `.TH ETAGERE 1 "" "etagere ${readVersion()}" "User Commands"`,
    ".SH NAME",
    "etagere \\- an Azure\\-Storage\\-compatible server",
    ".SH SYNOPSIS",
    ".B etagere",
    "[options]",
    ".br",
    ".B etagere",
    "blob|queue|table|file [options]",
    ".br",
    ".B etagere",
    "COMMAND ...",
    ".SH OPTIONS",
    "Without a command, etagere serves.",
    ...optionLines(serverOptions),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH ENVIRONMENT",
    ".TP",
    ".B AZURITE_ACCOUNTS",
    escaped("name:key1[:key2];… replaces the development account devstoreaccount1"),
    ".TP",
    ".B ETAGERE_ADMIN_TOKEN, ETAGERE_PWD, ETAGERE_STORE",
    escaped("replace --adminToken, --pwd and --store"),
    "",
  ].join("\n");
}

function commandLines(command: Command): readonly string[] {
  const { summary, description, actions, options, exitCodes, example } = command;
  return [
    `.SS ${escaped(usageLine(command))}`,
    `${escaped(summary)}.`,
    ...description.flatMap((text) => [".PP", escaped(text)]),
    ...Object.entries(actions).flatMap(([name, action]) => [
      ".TP",
      `.B ${escaped([name, ...action.arguments.map(argumentWord)].join(" "))}`,
      escaped(action.help),
    ]),
    ...command.arguments.flatMap((each) => [".TP", `.B ${each.value}`, escaped(each.help ?? "")]),
    ...optionLines(options),
    ".PP",
    escaped(`Exit code: ${exitCodes.map((meaning, code) => `${code} ${meaning}`).join(", ")}.`),
    ".PP",
    escaped(`Example: ${example}`),
  ];
}

function optionLines(options: Options): readonly string[] {
  return Object.entries(options).flatMap(([name, { short, value, help }]) => {
    const shortForm = short === undefined ? "" : `-${short}, `;
    const term = `${shortForm}--${name}${value === undefined ? "" : ` ${value}`}`;
    return [".TP", `.B ${escaped(term)}`, escaped(help)];
  });
}

/** Escapes text for roff: no line begins with a control character, and hyphens stay those of
 *  ASCII. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...");
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}
