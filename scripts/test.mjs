// `npm test`: from a fresh clone to a tested one. Words after `--` go to vitest.
import { runTests } from "./run-tests.mjs";

runTests(process.argv.slice(2));
