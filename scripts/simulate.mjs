// `npm run simulate`: whole servers in simulated time, under faults that a seed decides; see
// tests/simulate/main.ts. Words after `--` are its options: `-- --seeds 200`, `-- --seed 7`.
// `-- --coverage --seeds 40` reports which branches of the server these seeds have run.
// `-- --node 26 --seeds 200` runs them on another version of Node.js, which is downloaded from npm:
// newer ones simulate faster. The hash of a seed is the same on every machine, but Node's own
// messages and iterations differ between its versions.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, root, run, tool } from "./prepare.mjs";
import { answerHelp } from "./script-options.mjs";

answerHelp(import.meta.url);
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
const { node, words } = await chosenNode(process.argv.slice(2));
const isCovered = words.includes("--coverage");
ensureInstalled();
rmSync(built, { recursive: true, force: true });
run(tool("tsc"), ["-p", "tsconfig.simulate.json"]);
const program = join(built, "tests", "simulate", "main.js");
if (isCovered) {
  rmSync(coverage, { recursive: true, force: true });
  const given = words.filter((word) => word !== "--coverage");
  // One process, because counts of several cannot be added: each has ranges of its own.
  run(node, [program, ...given, "--processes", "1"], {
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  });
  const { reportCoverage } = await import("./branch-coverage.mjs");
  reportCoverage(coverage, built, coveredFolders);
} else run(node, [program, ...words]);

/** The binary that `--node VERSION` names, else that of this process; and the other words. */
async function chosenNode(all) {
  const at = all.indexOf("--node");
  if (at < 0) return { node: process.execPath, words: all };
  const { nodeBinary } = await import("./node-versions.mjs");
  const chosen = nodeBinary(all[at + 1]);
  console.log(`Node.js ${chosen.version}`);
  return { node: chosen.node, words: all.toSpliced(at, 2) };
}
