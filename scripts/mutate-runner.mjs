// The process of `npm run mutate` that runs the tests, again and again: to start Vitest anew for each
// change took four times as long. It runs in the copy of the checkout that has the changed file.
import { createVitest } from "vitest/node";

const vitest = await createVitest("test", {
  watch: false,
  reporters: [{}],
  maxWorkers: 1,
  bail: 1,
});
// A changed file may throw when it is imported, or later.
process.on("unhandledRejection", () => process.send(false));
process.on("message", (request) => void runTests(request));

async function runTests({ file, tests }) {
  vitest.invalidateFile(file);
  const specifications = await vitest.globTestSpecifications(tests);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, true);
  const hasFailed = testModules.some((module) => module.state() === "failed");
  process.send(!hasFailed && unhandledErrors.length === 0);
}
