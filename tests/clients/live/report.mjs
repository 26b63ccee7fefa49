// Compares the results of the live tests with the list of known failures.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The expected failures of a suite: `known-failures.json` has a list of tests for each reason. `*` at
 * the end of a name stands for any text; `mayPass` is for tests that depend on chance.
 */
export function knownFailures(kind) {
  const file = join(import.meta.dirname, "known-failures.json");
  return JSON.parse(readFileSync(file, "utf8"))[kind].flatMap(({ reason, tests, mayPass }) =>
    tests.map((test) => ({ reason, test, mayPass })),
  );
}

/** `isComplete`: whether all tests of these libraries ran. */
export function compared(known, results, { libraries, isComplete }) {
  const nameOf = ({ library, test }) => `${library} ${test}`;
  const reasonOf = (result) => known.find(({ test }) => matches(test, nameOf(result)))?.reason;
  const failed = results.filter(({ outcome }) => outcome === "failed");
  const [expected, unexpected] = [true, false].map((isKnown) =>
    failed.filter((one) => (reasonOf(one) !== undefined) === isKnown),
  );
  const isGone = ({ test, mayPass }) => {
    if (mayPass === true) return false;
    const ran = results.filter((one) => matches(test, nameOf(one)));
    return ran.length === 0 ? isComplete : ran.every(({ outcome }) => outcome !== "failed");
  };
  const gone = known.filter(({ test }) => libraries.includes(test.split(" ")[0])).filter(isGone);
  return {
    expected: expected.map((one) => ({ name: nameOf(one), reason: reasonOf(one) })),
    unexpected: unexpected.map((one) => ({ name: nameOf(one), error: errorOf(one.output) })),
    gone: gone.map(({ test }) => test),
    isAsExpected: unexpected.length === 0 && gone.length === 0 && results.length > 0,
  };
}

function matches(pattern, name) {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

const errorLinesMax = 4;

/** The lines that say what is wrong, in the output of `go test` or pytest. */
function errorOf(output = "") {
  const lines = output.split("\n").map((line) => line.trim());
  const python = lines.filter((line) => line.startsWith("E "));
  const go = lines.flatMap((line, index) =>
    line.startsWith("Error:") ? lines.slice(index, index + errorLinesMax) : [],
  );
  const panic = lines.filter((line) => line.startsWith("panic:"));
  const found = [python, go, panic, lines].find((each) => each.length > 0) ?? [];
  return found.slice(0, errorLinesMax).join("\n    ");
}

export function printed(results, { expected, unexpected, gone }) {
  const parts = [
    ["known failures:", expected.map(({ name, reason }) => `${name}: ${reason}`)],
    ["on the list of known failures, but passed or not found:", gone],
    ["FAILED:", unexpected.map(({ name, error }) => `${name}\n    ${error}`)],
  ];
  const lines = parts
    .filter(([, items]) => items.length > 0)
    .flatMap(([title, items]) => ["", title, ...items.map((item) => `  ${item}`)]);
  const count = (outcome) => results.filter((one) => one.outcome === outcome).length;
  const counts = ["passed", "failed", "skipped"].map((one) => `${count(one)} ${one}`);
  return [...lines, "", counts.join(", ")].join("\n");
}
