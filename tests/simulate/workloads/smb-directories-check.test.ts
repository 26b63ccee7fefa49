import { describe, expect, it } from "vitest";
import type { Operation } from "../../verify/history.ts";
import { checkDirectories, type DirectoryOutput } from "./smb-directories-check.ts";

interface Step {
  readonly input: object;
  /** Undefined without a response. */
  readonly output?: DirectoryOutput;
}

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

/** One after the other. */
function problemsOf(...steps: readonly Step[]): readonly string[] {
  const operations = [...made, ...steps].map(({ input, output }, index): Operation => ({
    id: `${index}`,
    workload: "",
    key: "t",
    input,
    output,
    called: index,
    returned: output === undefined ? Infinity : index + 0.5,
  }));
  return checkDirectories(operations);
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
