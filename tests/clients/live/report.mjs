// Compares the results of the live tests with the list of known failures.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The expected failures of a suite: `known-failures.json` has a list of tests for each reason. `*` at
 * the end of a name stands for any text; `mayPass` is for tests that depend on chance.
 */
export function knownFailures(kind) {
  const file = join(import.meta.dirname, "known-failures.json");
  return testsOf(JSON.parse(readFileSync(file, "utf8"))[kind]);
}

export function testsOf(reasons) {
  return reasons.flatMap(({ reason, tests, mayPass }) =>
    tests.map((test) => ({ reason, test, mayPass })),
  );
}

/**
 * `known.skipped` is undefined if tests may be skipped for any reason. `isComplete`: whether all
 * tests of these libraries ran.
 */
export function compared(known, results, { libraries, isComplete }) {
  const [failed, skipped] = ["failed", "skipped"].map((outcome) =>
    known[outcome] === undefined
      ? undefined
      : compareOne(known[outcome], outcome, { results, libraries, isComplete }),
  );
  const differences = [failed, skipped].flatMap((one) =>
    one === undefined ? [] : [...one.unexpected, ...one.gone],
  );
  return { failed, skipped, isAsExpected: differences.length === 0 && results.length > 0 };
}

function compareOne(known, outcome, { results, libraries, isComplete }) {
  const nameOf = ({ library, test }) => `${library} ${test}`;
  const reasonOf = (result) => known.find(({ test }) => matches(test, nameOf(result)))?.reason;
  const found = results.filter((one) => one.outcome === outcome);
  const [expected, unexpected] = [true, false].map((isKnown) =>
    found.filter((one) => (reasonOf(one) !== undefined) === isKnown),
  );
  const isGone = ({ test, mayPass }) => {
    if (mayPass === true) return false;
    const ran = results.filter((one) => matches(test, nameOf(one)));
    return ran.length === 0 ? isComplete : ran.every((one) => one.outcome !== outcome);
  };
  const gone = known.filter(({ test }) => libraries.includes(test.split(" ")[0])).filter(isGone);
  return {
    expected: expected.map((one) => ({ name: nameOf(one), reason: reasonOf(one) })),
    unexpected: unexpected.map((one) => ({ name: nameOf(one), error: errorOf(one.output) })),
    gone: gone.map(({ test }) => test),
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

/** The last lines are the counts of each library and of all. */
export function printed(results, { failed, skipped }) {
  const withError = ({ name, error }) => `${name}\n    ${error}`;
  const parts = [
    ["known failures:", failed.expected.map(({ name, reason }) => `${name}: ${reason}`)],
    ["on the list of known failures, but passed or not found:", failed.gone],
    ["on the list of expected skips, but ran or not found:", skipped?.gone ?? []],
    ["skipped, but not on the list:", skipped?.unexpected.map(withError) ?? []],
    ["FAILED:", failed.unexpected.map(withError)],
  ];
  const lines = parts
    .filter(([, items]) => items.length > 0)
    .flatMap(([title, items]) => ["", title, ...items.map((item) => `  ${item}`)]);
  const libraries = [...new Set(results.map(({ library }) => library))];
  const each = libraries.map((library) => {
    const own = results.filter((one) => one.library === library);
    return `${library}: ${counts(own, { failed, skipped })}`;
  });
  const all = `${libraries.length === 1 ? "" : "all: "}${counts(results, { failed, skipped })}`;
  return [...lines, "", ...(libraries.length > 1 ? [...each, all] : [all])].join("\n");
}

function counts(results, known) {
  const names = new Set(results.map(({ library, test }) => `${library} ${test}`));
  return ["passed", "failed", "skipped"]
    .map((outcome) => {
      const count = results.filter((one) => one.outcome === outcome).length;
      const expected = known[outcome]?.expected.filter(({ name }) => names.has(name)).length;
      return `${count} ${outcome}${expected === undefined ? "" : ` (${expected} expected)`}`;
    })
    .join(", ");
}
