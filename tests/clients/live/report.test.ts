import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

interface Result {
  readonly test: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly output?: string;
}

const known = [
  { test: "azblob blob Test/TestKnown", reason: "the management plane" },
  { test: "azblob blob TestFamily*", reason: "not sent to this server" },
  { test: "azfile share Test/TestOther", reason: "of a library that does not run" },
];

const skips = [{ test: "azblob blob TestScale*", reason: "only when asked for" }];

interface Options {
  readonly isComplete?: boolean;
  readonly withSkips?: boolean;
}

function compare(
  results: readonly Result[],
  { isComplete = true, withSkips = false }: Options = {},
): unknown {
  const all = JSON.stringify(results.map((one) => ({ library: "azblob", ...one })));
  const options = JSON.stringify({ libraries: ["azblob"], isComplete });
  const lists = { failed: known, ...(withSkips ? { skipped: skips } : {}) };
  const program = `import { compared, printed } from "./tests/clients/live/report.mjs";
    const found = compared(${JSON.stringify(lists)}, ${all}, ${options});
    const { isAsExpected, skipped } = found;
    const { expected, unexpected, gone } = found.failed;
    const names = (list) => list.map(({ name }) => name);
    const last = printed(${all}, found).split("\\n").at(-1);
    const result = { expected: names(expected), unexpected, gone, skipped, isAsExpected, last };
    console.log(JSON.stringify(result));`;
  const words = ["--input-type=module", "-e", program];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8" }));
}

const knownFails: readonly Result[] = [
  { test: "blob Test/TestKnown", outcome: "failed" },
  { test: "blob TestFamily/one", outcome: "failed" },
];

describe("results of live tests", () => {
  it("are as expected if exactly the known failures failed", () => {
    const passed: Result = { test: "blob Test/TestGood", outcome: "passed" };
    const skipped: Result = { test: "blob Test/TestLater", outcome: "skipped" };
    expect(compare([...knownFails, passed, skipped])).toMatchObject({
      expected: ["azblob blob Test/TestKnown", "azblob blob TestFamily/one"],
      isAsExpected: true,
      last: "1 passed, 2 failed (2 expected), 1 skipped",
    });
  });

  it("are not as expected if another test fails", () => {
    const output = "=== RUN\n  Error Trace: x.go:1\n  Error:  Not equal: a\n  Test: b";
    const failed: Result = { test: "blob Test/TestNew", outcome: "failed", output };
    expect(compare([...knownFails, failed])).toMatchObject({
      unexpected: [
        { name: "azblob blob Test/TestNew", error: "Error:  Not equal: a\n    Test: b" },
      ],
      isAsExpected: false,
    });
  });

  it("are not as expected if a known failure passes or is not found", () => {
    const passes: Result = { test: "blob TestFamily/one", outcome: "passed" };
    expect(compare([passes])).toMatchObject({
      gone: ["azblob blob Test/TestKnown", "azblob blob TestFamily*"],
      isAsExpected: false,
    });
  });

  it("are not as expected if a test is skipped that is not on a list of skips", () => {
    const listed: Result = { test: "blob TestScale/one", outcome: "skipped" };
    const other: Result = { test: "blob Test/TestLater", outcome: "skipped", output: "no reason" };
    expect(compare([...knownFails, listed], { withSkips: true })).toMatchObject({
      isAsExpected: true,
      last: "0 passed, 2 failed (2 expected), 1 skipped (1 expected)",
    });
    expect(compare([...knownFails, listed, other], { withSkips: true })).toMatchObject({
      skipped: { unexpected: [{ name: "azblob blob Test/TestLater", error: "no reason" }] },
      isAsExpected: false,
    });
  });

  it("are not as expected if a test of the list of skips runs", () => {
    const ran: Result = { test: "blob TestScale/one", outcome: "passed" };
    expect(compare([...knownFails, ran], { withSkips: true })).toMatchObject({
      skipped: { gone: ["azblob blob TestScale*"] },
      isAsExpected: false,
    });
  });

  it("ignore known failures that were not asked for", () => {
    const [first] = knownFails;
    expect(compare(first === undefined ? [] : [first], { isComplete: false })).toMatchObject({
      gone: [],
      isAsExpected: true,
    });
  });

  it("are not as expected if no test ran", () => {
    expect(compare([], { isComplete: false })).toMatchObject({ isAsExpected: false });
  });
});
