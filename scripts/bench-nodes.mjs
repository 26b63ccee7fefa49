// `node scripts/bench-nodes.mjs`: see scripts/bench/nodes.ts. About four minutes; `--out FILE` keeps
// the figures, `--page docs/bench/nodes.md` writes them down for readers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runBench } from "./bench-prepare.mjs";
import { openDatabase } from "./database.mjs";
import { root } from "./prepare.mjs";

// Flushed to the same disk as the other engine, because an acknowledged write has to be.
const { url, folder } = await openDatabase([], join(root, ".bench"));
const [databasePid] = readFileSync(join(folder, "data", "postmaster.pid"), "latin1").split("\n");
process.argv.push("--database", url, "--databasePid", databasePid);
runBench("nodes", { needsServer: !process.argv.some((word) => word.startsWith("--program")) });
