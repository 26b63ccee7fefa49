// Compiles the benchmarks, and the server if `dist` is measured, and runs one of them.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root, run, tool } from "../prepare.mjs";

export function runBench(name, { needsServer = true } = {}) {
  ensureInstalled();
  if (needsServer) ensureBuilt();
  // Without type checks, which `npm run check` makes: a measurement starts at once.
  const folder = join(root, ".bench", "build");
  run(tool("tsc"), ["-p", "tsconfig.scripts.json", "--noCheck", "--outDir", folder]);
  // The server reads its version there.
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  const program = join(folder, "scripts", "bench", `${name}.js`);
  run(process.execPath, [program, ...process.argv.slice(2)]);
}
