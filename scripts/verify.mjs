// `npm run verify`: histories of many clients under faults, checked against the contract; see
// tests/verify/main.ts. Words after `--` are its options, e.g. `-- --seconds 600 --seed 7`, or
// `-- --nodes 3 --store postgres` for three nodes on a database that is started for it. With
// `-- --foreign`, checkers that are not ours judge the history as well (foreign-checkers.mjs).
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "./database.mjs";
import { ensureBuilt, ensureInstalled, root, run, tool } from "./prepare.mjs";

if (process.argv.includes("--foreign")) await import("./foreign-checkers.mjs");
const built = join(root, ".build", "verify");
ensureInstalled();
ensureBuilt();
rmSync(built, { recursive: true, force: true });
run(tool("tsc"), ["-p", "tsconfig.verify.json"]);
const { words, store } = await openStore(process.argv.slice(2));
const storeWords = store === undefined ? [] : ["--store", store];
run(process.execPath, [join(built, "tests", "verify", "main.js"), ...words, ...storeWords]);
