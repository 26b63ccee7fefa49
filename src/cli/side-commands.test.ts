import { describe, expect, it } from "vitest";
import { asksForHelp, commandHelp, usageError } from "./subcommand.ts";
import { sideCommands, unknownCommand } from "./side-commands.ts";

describe("every side command", () => {
  it.each([...sideCommands.values()])("$name says how it is used", (command) => {
    const help = commandHelp(command);
    expect(help).toMatch(new RegExp(`^usage: etagere ${command.name}( |$)`, "m"));
    expect(help).toContain("\nexit code: 0");
    expect(help).toMatch(new RegExp(`^example: +etagere ${command.name}( |$)`, "m"));
    for (const [option = ""] of command.usage.matchAll(/--\w+/g)) {
      expect(command.help.join("\n")).toContain(option);
    }
    for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  it("gives help wherever it is asked for", () => {
    expect(asksForHelp(["--from", "a", "-h"])).toBe(true);
    expect(asksForHelp(["--help"])).toBe(true);
    expect(asksForHelp(["--from", "helpful"])).toBe(false);
  });

  it("says what is wrong before it says how it is used", () => {
    expect(usageError({ name: "check", usage: "FOLDER" }, "it takes one folder")).toBe(
      "etagere check: it takes one folder\n" +
        "usage: etagere check FOLDER\n" +
        "etagere check --help says more.\n",
    );
  });
});

it.each([
  ["bakup", "bakup: there is no such command; did you mean backup?"],
  ["Status", "Status: there is no such command; did you mean status?"],
  ["chekc", "chekc: there is no such command; did you mean check?"],
  ["backups", "backups: there is no such command; did you mean backup?"],
  ["tor", "tor: there is no such command; did you mean tour?"],
  ["cat", "cat: there is no such command; there are check, backup,"],
  ["serve", "serve: there is no such command; there are check, backup,"],
  ["x".repeat(1000), "tour, blob, queue, table, file, version; without a command, it serves"],
])("says that there is no command %s", (word, message) => {
  expect(unknownCommand(word)).toContain(message);
});
