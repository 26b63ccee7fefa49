// `npm test`: from a fresh clone to a tested one. Words after `--` go to vitest.
import { ensureBuilt, ensureInstalled, run, tool } from "./prepare.mjs";
import { installMissing, missingTools } from "./tools.mjs";

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
const left = missing.flatMap(({ tests }) => ["--exclude", `${tests}/**`]);
run(tool("vitest"), ["run", ...left, ...process.argv.slice(2)]);
