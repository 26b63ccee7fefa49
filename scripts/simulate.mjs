// `npm run simulate`: whole servers in simulated time, under faults that a seed decides; see
// tests/simulate/main.ts. Words after `--` are its options: `-- --seeds 200`, `-- --seed 7`.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, root, run, tool } from "./prepare.mjs";

const built = join(root, ".build", "simulate");
ensureInstalled();
rmSync(built, { recursive: true, force: true });
run(tool("tsc"), ["-p", "tsconfig.simulate.json"]);
run(process.execPath, [join(built, "tests", "simulate", "main.js"), ...process.argv.slice(2)]);
