// `npm test`: installs and builds what is missing, then runs vitest. Words after `--` go to vitest.
//   -- --node 20,22           a part of the tests on other versions of Node.js
//   -- --node 26 --all        all tests
//   -- --node 26 FILE …       the named files
import { fileURLToPath } from "node:url";
import { ensureBuilt, ensureInstalled, run, tool } from "./prepare.mjs";
import { exclusionsOfMissing, installMissing } from "./tools.mjs";

/** Ends this process with vitest's exit code if a test fails. */
export function runTests(words) {
  ensureInstalled();
  installMissing();
  ensureBuilt();
  run(tool("vitest"), ["run", ...exclusionsOfMissing(), ...words]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, versions, ...tests] = process.argv.slice(2);
  if (first === "--node" && versions !== undefined) {
    const { testNodeVersions } = await import("./node-versions.mjs");
    testNodeVersions(versions, tests);
  } else {
    runTests(process.argv.slice(2));
  }
}
