import { describe, expect, it } from "vitest";
import { inTurn, type Step } from "./in-turn.ts";
import { checkDirectories } from "./smb-directories-check.ts";

const made: readonly Step[] = [
  { input: { action: "mkdir", path: "a" }, output: { status: 201 } },
  { input: { action: "mkdir", path: "a/x" }, output: { status: 201 } },
];
const marked: Step = { input: { action: "mark", path: "a/x" }, output: { status: 200 } };
const closed: Step = { input: { action: "close", path: "a/x" }, output: { status: 200 } };
const closing: Step = { input: { action: "close", path: "a/x" } };
const listed = (...names: readonly string[]): Step => ({
  input: { action: "list", path: "a" },
  output: { status: 200, names },
});
const notEmpty: Step = {
  input: { action: "remove", path: "a" },
  output: { status: 409, code: "DirectoryNotEmpty" },
};
const nameTaken: Step = {
  input: { action: "rename", path: "a/y", to: "a/x" },
  output: { status: 409, code: "ResourceAlreadyExists" },
};

function problemsOf(...steps: readonly Step[]): readonly string[] {
  return checkDirectories(inTurn([...made, ...steps]));
}

describe("the model of directories changed over SMB and REST", () => {
  it("a delete-pending entry is not listed, but its name and its directory are in use", () => {
    expect(problemsOf(marked, listed(), notEmpty, nameTaken, closed, listed())).toEqual([]);
  });

  it("an entry whose close had no response is removed later", () => {
    expect(problemsOf(marked, closing, listed(), notEmpty, listed())).toEqual([]);
    const removed: Step = { input: { action: "remove", path: "a" }, output: { status: 202 } };
    expect(problemsOf(marked, closing, listed(), notEmpty, removed)).toEqual([]);
  });

  it("an entry that is not delete-pending is listed", () => {
    expect(problemsOf(listed())).not.toEqual([]);
    expect(problemsOf(listed("x"), closing, listed())).not.toEqual([]);
  });

  it("a removed entry is gone", () => {
    expect(problemsOf(marked, closed, notEmpty)).not.toEqual([]);
    expect(problemsOf(marked, closed, listed("x"))).not.toEqual([]);
  });
});
