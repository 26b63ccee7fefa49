// `npm run verify`: histories of many clients under faults, checked against the contract; see
// tests/verify/main.ts. Words after `--` are its options, e.g. `-- --seconds 600 --seed 7`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root, run, tool } from "./prepare.mjs";

const built = join(root, ".build", "verify");
ensureInstalled();
ensureBuilt();
rmSync(built, { recursive: true, force: true });
run(tool("tsc"), ["-p", "tsconfig.verify.json"]);
run(process.execPath, [join(built, "main.js"), ...process.argv.slice(2)]);
