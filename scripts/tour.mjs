// `bin/etagere tour` in a checkout: builds what has changed, then runs the command.
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root, run } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
run(process.execPath, [join(root, "dist", "cli", "main.js"), "tour"]);
