// Runs vitest after installing and building what the tests need.
import { ensureBuilt, ensureInstalled, run, tool } from "./prepare.mjs";
import { installMissing, missingTools } from "./tools.mjs";

/** Ends this process with vitest's exit code if a test fails. */
export function runTests(words) {
  ensureInstalled();
  installMissing();
  ensureBuilt();

  const missing = missingTools();
  for (const { name, tests } of missing) {
    console.error(`\n*** NOT TESTED: ${tests} needs the program ${name}, which is missing ***\n`);
  }
  if (missing.length > 0 && process.env["ETAGERE_REQUIRE_ALL"] === "1") {
    console.error("ETAGERE_REQUIRE_ALL=1: nothing may be left out");
    process.exit(1);
  }
  const excluded = missing.flatMap(({ tests }) => ["--exclude", `${tests}/**`]);
  run(tool("vitest"), ["run", ...excluded, ...words]);
}
