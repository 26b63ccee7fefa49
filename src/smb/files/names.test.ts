import { describe, expect, it } from "vitest";
import { Status } from "../status.ts";
import { parsePath } from "./file-handle.ts";
import { matches } from "../operations/directory.ts";

describe("matches", () => {
  it.each([
    ["*", "anything", true],
    ["*.txt", "Report.TXT", true],
    ["*.txt", "report.text", false],
    ["?.txt", "a.txt", true],
    ["?.txt", "ab.txt", false],
    ["<.txt", "a.b.txt", true],
    ["<.b", "a.b.txt", false],
    [">>>.txt", "a.txt", true],
    ['name"', "name", true],
    ['name"txt', "name.txt", true],
    ["a*b*c*d", "aXbXcXd", true],
    ["*a*a*a*a*a*a*b", "a".repeat(200), false],
  ])("pattern %s, name %s: %s", (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });
});

describe("parsePath", () => {
  it("splits a path into components and a snapshot time", () => {
    expect(parsePath("a\\b")).toMatchObject({ components: ["a", "b"], mustBeDirectory: false });
    expect(parsePath("a\\")).toMatchObject({ components: ["a"], mustBeDirectory: true });
    expect(parsePath("")).toMatchObject({ components: [] });
    const past = parsePath("@GMT-2026.01.02-03.04.05\\a");
    expect(past).toMatchObject({ components: ["a"], snapshot: 639_029_198_450_000_000n });
  });

  it.each([
    ["\\a", Status.invalidParameter],
    ["a\\..\\b", Status.objectPathSyntaxBad],
    ["a*b", Status.objectNameInvalid],
    ["a:stream", Status.objectNameInvalid],
    ["x".repeat(256), Status.objectNameInvalid],
  ])("rejects %s", (path, status) => {
    expect(parsePath(path)).toBe(status);
  });
});
