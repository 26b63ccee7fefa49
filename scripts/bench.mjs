// `npm run bench`: see scripts/bench/main.ts. Words after `--` are its options.
import { join } from "node:path";
import { buildScripts, ensureBuilt, ensureInstalled, root, run } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
buildScripts();
run(process.execPath, [
  join(root, ".build", "scripts", "bench", "main.js"),
  ...process.argv.slice(2),
]);
