import { describe, expect, it } from "vitest";
import { flags } from "../server/flags.ts";
import { commands } from "./commands.ts";
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
  it("accepts a value after its flag or attached to it", () => {
    expect(valuesOf("--blobPort", "1", "--queuePort=2", "-l", "a folder")).toEqual({
      blobPort: 1,
      queuePort: 2,
      location: "a folder",
    });
  });

  it("accepts Azurite's short flags", () => {
    expect(valuesOf("-s", "-L", "-d", "debug.log", "-l=here")).toEqual({
      silent: true,
      loose: true,
      debug: "debug.log",
      location: "here",
    });
  });

  it("accepts true and false for a switch", () => {
    expect(valuesOf("--silent=false", "--loose=true")).toEqual({ silent: false, loose: true });
  });

  it("keeps an equals sign inside a value", () => {
    expect(valuesOf("--pwd=a=b")).toEqual({ pwd: "a=b" });
  });

  it("keeps a value that is not a number, for the error message", () => {
    expect(valuesOf("--blobPort", "http")).toEqual({ blobPort: "http" });
  });

  it.each([
    [["--nonsense", "1"], "--nonsense: no such option; --help lists all"],
    [["--blobPrt=1"], "--blobPrt: no such option; did you mean --blobPort?"],
    [["--silent", "blobs"], "blobs: no option before it takes a value"],
    [["--silent", "blob"], "blob: a command must come before all options"],
    [["--silent", "check"], "check: a command must come before all options"],
    [["-x"], "-x: no such option"],
    [["--toString"], "--toString: no such option"],
    [["--location"], "--location: needs a value"],
    [["--location="], "--location: needs a value"],
    [["--location", "--silent"], "--location: needs a value"],
    [["--silent=maybe"], "--silent: takes true, false or no value"],
    [["--blobPort", "1", "--blobPort", "2"], "--blobPort: given twice"],
  ])("rejects %j", (words, message) => {
    expect(problemsOf(...words).join("\n")).toContain(message);
  });

  it("takes an empty word as the value of an option, which needs a longer one", () => {
    expect(problemsOf("--location", "", "--silent")).toEqual(["--location: needs a value"]);
  });

  it("has the options of the Data Lake endpoint", () => {
    const words = ["--dfsPort", "10005", "--dfsHost=0.0.0.0", "--enableHierarchicalNamespace"];
    expect(valuesOf(...words)).toEqual({
      dfsPort: 10_005,
      dfsHost: "0.0.0.0",
      enableHierarchicalNamespace: true,
    });
  });

  it("handles --help and --version before any error", () => {
    expect(parseCommandLine(["--bad", "--help"])).toEqual({ run: "help" });
    expect(parseCommandLine(["-v"])).toEqual({ run: "version" });
  });

  it("describes every flag and command within 100 columns", () => {
    const help = helpText();
    const lines = help.split("\n").filter((line) => line !== "");
    const starts = lines.map((line) => line.trim().split("  ", 1)[0]);
    expect(starts.length).toBe(new Set(starts).size);
    for (const name of commands.keys()) expect(help).toMatch(new RegExp(`^  ${name} `, "m"));
    for (const name of Object.keys(flags)) expect(help).toContain(`--${name}`);
    for (const line of help.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });
});
