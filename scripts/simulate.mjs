// `npm run simulate`: whole servers in simulated time, under faults that a seed decides; see
// tests/simulate/main.ts. Words after `--` are its options: `-- --seeds 200`, `-- --seed 7`.
// `-- --coverage --seeds 40` reports which branches of the server these seeds have run.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, root, run, tool } from "./prepare.mjs";

/** Where decisions about concurrency and stored data are made. */
const coveredFolders = [
  "src/protocol",
  "src/operation",
  "src/store",
  "src/store/postgres",
  "src/content",
  "src/file/locks",
  "src/blob",
  "src/queue",
  "src/table",
  "src/events",
];
const built = join(root, ".build", "simulate");
const coverage = join(root, ".build", "simulate-coverage");
const words = process.argv.slice(2);
const isCovered = words.includes("--coverage");
ensureInstalled();
rmSync(built, { recursive: true, force: true });
run(tool("tsc"), ["-p", "tsconfig.simulate.json"]);
const program = join(built, "tests", "simulate", "main.js");
if (isCovered) {
  rmSync(coverage, { recursive: true, force: true });
  const given = words.filter((word) => word !== "--coverage");
  // One process, because counts of several cannot be added: each has ranges of its own.
  run(process.execPath, [program, ...given, "--processes", "1"], {
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  });
  const { reportCoverage } = await import("./branch-coverage.mjs");
  reportCoverage(coverage, built, coveredFolders);
} else run(process.execPath, [program, ...words]);
