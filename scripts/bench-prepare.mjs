// Compiles the benchmarks, and the server if it is to be measured, and runs one of them.
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root, run, tool } from "./prepare.mjs";

export function runBench(name, { needsServer = true, nodeWords = [] } = {}) {
  ensureInstalled();
  if (needsServer) ensureBuilt();
  // Types are the business of `npm run check`: a measurement does not wait for them.
  const folder = join(root, ".bench", "build");
  run(tool("tsc"), ["-p", "tsconfig.scripts.json", "--noCheck", "--outDir", folder]);
  const program = join(folder, "scripts", "bench", `${name}.js`);
  run(process.execPath, [...nodeWords, program, ...process.argv.slice(2)]);
}
