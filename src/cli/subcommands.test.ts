import { describe, expect, it } from "vitest";
import { asksForHelp, commandHelp, usageError } from "./subcommand.ts";
import { subcommands, unknownCommand } from "./subcommands.ts";

describe("every subcommand", () => {
  it.each([...subcommands.values()])("$name --help shows its usage", (command) => {
    const help = commandHelp(command);
    expect(help).toMatch(new RegExp(`^usage: etagere ${command.name}( |$)`, "m"));
    expect(help).toContain("\nexit code: 0");
    expect(help).toMatch(new RegExp(`^example: +etagere ${command.name}( |$)`, "m"));
    for (const [option = ""] of command.usage.matchAll(/--\w+/g)) {
      expect(command.help.join("\n")).toContain(option);
    }
    for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  it("prints help wherever --help stands among the words", () => {
    expect(asksForHelp(["--from", "a", "-h"])).toBe(true);
    expect(asksForHelp(["--help"])).toBe(true);
    expect(asksForHelp(["--from", "helpful"])).toBe(false);
  });

  it("prints the problem before the usage", () => {
    expect(usageError({ name: "check", usage: "FOLDER" }, "one folder is required")).toBe(
      "etagere check: one folder is required\n" +
        "usage: etagere check FOLDER\n" +
        "etagere check --help describes all options.\n",
    );
  });
});

it.each([
  ["bakup", "bakup: no such command; did you mean backup?"],
  ["Status", "Status: no such command; did you mean status?"],
  ["chekc", "chekc: no such command; did you mean check?"],
  ["backups", "backups: no such command; did you mean backup?"],
  ["tor", "tor: no such command; did you mean tour?"],
  ["cat", "cat: no such command; commands: check, backup,"],
  ["serve", "serve: no such command; commands: check, backup,"],
  ["x".repeat(1000), "tour, blob, queue, table, file, version; without a command, etagere serves"],
])("reports the unknown command %s", (word, message) => {
  expect(unknownCommand(word)).toContain(message);
});
