// `npm test`: installs and builds what is missing, then runs vitest. Words after `--` go to vitest.
//   -- --node 20,22 [FILE …]   a part of the tests, or the named files, on other versions of Node.js
import { fileURLToPath } from "node:url";
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
    console.error("ETAGERE_REQUIRE_ALL=1: install the missing programs, no test may be skipped");
    process.exit(1);
  }
  const excluded = missing.flatMap(({ tests }) => ["--exclude", `${tests}/**`]);
  run(tool("vitest"), ["run", ...excluded, ...words]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, versions, ...files] = process.argv.slice(2);
  if (first === "--node" && versions !== undefined) {
    const { testNodeVersions } = await import("./node-versions.mjs");
    testNodeVersions(versions, files);
  } else {
    runTests(process.argv.slice(2));
  }
}
