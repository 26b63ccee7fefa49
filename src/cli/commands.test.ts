import { describe, expect, it } from "vitest";
import { flags } from "../server/flags.ts";
import { serverOptions } from "./command-line.ts";
import type { Argument, Option } from "./command.ts";
import { commands, unknownCommand } from "./commands.ts";
import { checkCommand } from "./check-command.ts";
import { exportCommand } from "./export-command.ts";
import { commandHelp, usageError } from "./help.ts";
import { readWords } from "./parse-words.ts";
import { snapshotCommand } from "./snapshot-command.ts";
import { statusCommand } from "./status-command.ts";

/** What a value needs so that help, checks and completion can be derived from it. */
function isComplete({ kind, value, choices = [] }: Option | Argument): boolean {
  if (kind === "switch") return value === undefined;
  return value !== undefined && (kind === "choice") === choices.length > 0;
}

describe("every command", () => {
  it.each([...commands.values()])("$name --help shows its usage", (command) => {
    const help = commandHelp(command);
    expect(help).toMatch(new RegExp(`^usage: etagere ${command.name}( |$)`, "m"));
    expect(help).toContain("\nexit code: 0");
    expect(help).toMatch(new RegExp(`^example: +etagere ${command.name}( |$)`, "m"));
    for (const name of Object.keys(command.options)) expect(help).toContain(`--${name}`);
    for (const name of Object.keys(command.actions)) {
      expect(help).toMatch(new RegExp(`^  ${name} `, "m"));
    }
    for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  it.each([...commands.values()])("$name declares options that exist, completely", (command) => {
    const { options, actions, oneOf = [] } = command;
    const all = Object.values(actions);
    const named = [
      ...Object.values(options).flatMap(({ excludes = [] }) => excludes),
      ...oneOf.flat(),
      ...all.flatMap((action) => action.oneOf ?? []),
    ];
    expect(named.filter((name) => !Object.hasOwn(options, name))).toEqual([]);
    const ofActions = Object.values(options).flatMap((option) => option.actions ?? []);
    expect(ofActions.filter((name) => !Object.hasOwn(actions, name))).toEqual([]);
    const described = [...command.arguments, ...all.flatMap((action) => action.arguments)];
    expect([...described, ...Object.values(options)].filter((one) => !isComplete(one))).toEqual([]);
  });

  it("prints help wherever --help stands among the words", async () => {
    expect(readWords(["--to", "-h"], checkCommand).asksForHelp).toBe(true);
    expect(readWords(["--help"], checkCommand).asksForHelp).toBe(true);
    expect(readWords(["helpful"], checkCommand).asksForHelp).toBe(false);
    expect(readWords(["--", "--help"], checkCommand).asksForHelp).toBe(false);
  });

  it("prints the problem before the usage", () => {
    expect(usageError(checkCommand, ["FOLDER is required"])).toBe(
      "etagere check: FOLDER is required\n" +
        "usage: etagere check FOLDER [options]\n" +
        "etagere check --help describes all options.\n",
    );
  });
});

it("the options of the server are declared completely", () => {
  expect(Object.values(serverOptions).filter((option) => !isComplete(option))).toEqual([]);
  expect(Object.keys(serverOptions)).toEqual([...Object.keys(flags), "version", "help"]);
});

it.each([
  ["bakup", "bakup: no such command; did you mean backup?"],
  ["Status", "Status: no such command; did you mean status?"],
  ["chekc", "chekc: no such command; did you mean check?"],
  ["backups", "backups: no such command; did you mean backup?"],
  ["tor", "tor: no such command; did you mean tour?"],
  ["cat", "cat: no such command; commands: check, backup,"],
  ["serve", "serve: no such command; commands: check, backup,"],
  ["x".repeat(1000), "file, version, help; without a command, etagere serves"],
])("reports the unknown command %s", (word, message) => {
  expect(unknownCommand(word)).toContain(message);
});

describe("the words of a command", () => {
  it("are options in every spelling, and arguments", () => {
    const { given, problems } = readWords(["save", "-lfolder", "--json", "base"], snapshotCommand);
    expect(problems).toEqual([]);
    expect(given).toMatchObject({
      action: "save",
      words: ["base"],
      options: { location: "folder", json: true, url: undefined },
    });
    const attached = readWords(["--url=http://host:1", "--token", "a", "--json"], statusCommand);
    expect(attached.given.options).toEqual({
      url: "http://host:1",
      token: "a",
      json: true,
      watch: false,
      ready: false,
      alive: false,
      location: undefined,
      tokenFile: undefined,
    });
  });

  it("may repeat an option that is a list, and name standard output", () => {
    const words = ["--account", "a", "--account=b", "-o", "-"];
    const { given, problems } = readWords(words, exportCommand);
    expect(problems).toEqual([]);
    expect(given.options).toMatchObject({ account: ["a", "b"], output: "-" });
  });

  it.each([
    ["snapshot", "svae base", "svae: no such action of snapshot; did you mean save?"],
    ["snapshot", "", "save, restore, list or delete is required"],
    ["snapshot", "save", "save: NAME is required"],
    ["snapshot", "list --locaton x", "--locaton: no such option; did you mean --location?"],
    ["export", "", "--output is required"],
    ["export", "-o a -o b", "-o: given twice"],
    ["export", "-o a --url http://x --store y", "--url contradicts --store"],
    ["status", "--nonsense", "--nonsense: no such option; --help lists all"],
    ["status", "--url", "--url: needs a value"],
    ["status", "--url=", "--url: needs a value"],
    ["status", "--url host:1", "--url must begin with http:// or https://"],
    ["status", "--json=yes", "--json: takes true, false or no value"],
    ["status", "word", 'unexpected word "word"'],
  ])("of %s are checked: %s", (name, words, problem) => {
    const given = words.split(" ").filter((word) => word !== "");
    const command = commands.get(name) ?? checkCommand;
    expect(readWords(given, command).problems).toEqual([problem]);
  });
});
