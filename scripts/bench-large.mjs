// `node scripts/bench-large.mjs [--blobs N]`: see scripts/bench/large.ts.
import { join } from "node:path";
import { buildScripts, ensureBuilt, ensureInstalled, root, run } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
buildScripts();
run(process.execPath, [
  join(root, ".build", "scripts", "bench", "large.js"),
  ...process.argv.slice(2),
]);
