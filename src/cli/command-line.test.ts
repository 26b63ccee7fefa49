import { describe, expect, it } from "vitest";
import { flags } from "../server/flags.ts";
import { sideCommands } from "./side-commands.ts";
import { helpText, parseCommandLine } from "./command-line.ts";

function valuesOf(...words: readonly string[]): unknown {
  const parsed = parseCommandLine(words);
  return parsed.run === "serve" ? parsed.values : parsed;
}

function problemsOf(...words: readonly string[]): readonly string[] {
  const parsed = parseCommandLine(words);
  return parsed.run === "serve" ? parsed.problems : [];
}

describe("the command line", () => {
  it("takes a value apart from its flag or attached to it", () => {
    expect(valuesOf("--blobPort", "1", "--queuePort=2", "-l", "a folder")).toEqual({
      blobPort: 1,
      queuePort: 2,
      location: "a folder",
    });
  });

  it("knows Azurite's letters", () => {
    expect(valuesOf("-s", "-L", "-d", "debug.log", "-l=here")).toEqual({
      silent: true,
      loose: true,
      debug: "debug.log",
      location: "here",
    });
  });

  it("lets a switch be turned off", () => {
    expect(valuesOf("--silent=false", "--loose=true")).toEqual({ silent: false, loose: true });
  });

  it("keeps an equals sign inside a value", () => {
    expect(valuesOf("--pwd=a=b")).toEqual({ pwd: "a=b" });
  });

  it("keeps text where a number should be, for the message to show it", () => {
    expect(valuesOf("--blobPort", "http")).toEqual({ blobPort: "http" });
  });

  it.each([
    [["--nonsense", "1"], "--nonsense: there is no such option; --help lists all"],
    [["--blobPrt=1"], "--blobPrt: there is no such option; did you mean --blobPort?"],
    [["--silent", "blobs"], "blobs: belongs to no option that takes a value"],
    [["--silent", "blob"], "blob: a command comes first, before all options"],
    [["--silent", "check"], "check: a command comes first, before all options"],
    [["-x"], "-x: there is no such option"],
    [["--toString"], "--toString: there is no such option"],
    [["--location"], "--location: needs a value"],
    [["--location="], "--location: needs a value"],
    [["--location", "--silent"], "--location: needs a value"],
    [["--silent=maybe"], "--silent: takes true, false or no value"],
    [["--blobPort", "1", "--blobPort", "2"], "--blobPort: given twice"],
  ])("refuses %j", (words, message) => {
    expect(problemsOf(...words).join("\n")).toContain(message);
  });

  it("has the options of the Data Lake endpoint", () => {
    const words = ["--dfsPort", "10005", "--dfsHost=0.0.0.0", "--enableHierarchicalNamespace"];
    expect(valuesOf(...words)).toEqual({
      dfsPort: 10_005,
      dfsHost: "0.0.0.0",
      enableHierarchicalNamespace: true,
    });
  });

  it("answers --help and --version before anything else", () => {
    expect(parseCommandLine(["--bad", "--help"])).toEqual({ run: "help" });
    expect(parseCommandLine(["-v"])).toEqual({ run: "version" });
  });

  it("has help for every flag and command, within the width of a terminal", () => {
    const help = helpText();
    for (const name of sideCommands.keys()) expect(help).toMatch(new RegExp(`^  ${name} `, "m"));
    for (const name of Object.keys(flags)) expect(help).toContain(`--${name}`);
    for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });
});
