// `npm run verify`: histories of many clients under faults, checked against the contract; see
// tests/verify/main.ts. Words after `--` are its options, e.g. `-- --seconds 600 --seed 7`, or
// `-- --nodes 3 --store postgres` for three nodes on a database that is started for it. With
// `-- --cluster`, nodes, database, standby and bucket are in network namespaces that fail. With
// `-- --foreign`, checkers that are not ours judge the history as well (foreign-checkers.mjs).
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "./database.mjs";
import { ensureBuilt, ensureInstalled, root, run, tool } from "./prepare.mjs";
import { answerHelp } from "./script-options.mjs";

answerHelp(import.meta.url);
if (process.argv.includes("--foreign")) await import("./foreign-checkers.mjs");
const built = join(root, ".build", "verify");
ensureInstalled();
ensureBuilt();
rmSync(built, { recursive: true, force: true });
run(tool("tsc"), ["-p", "tsconfig.verify.json"]);
if (process.argv.includes("--cluster")) runCluster();
const { words, store } = await openStore(process.argv.slice(2));
const storeWords = store === undefined ? [] : ["--store", store];
run(process.execPath, [join(built, "tests", "verify", "main.js"), ...words, ...storeWords]);

/** In a network namespace of its own, so that the network of this machine is not changed. */
function runCluster() {
  if (process.getuid?.() !== 0) {
    console.error("network namespaces need root");
    process.exit(2);
  }
  const folder = join(built, "tests", "verify", "cluster");
  const program = join(folder, "main.js");
  buildHostFaults(folder);
  const within = ["--net", "--mount", process.execPath, program];
  const given = process.argv.slice(2).filter((word) => !["--cluster", "--planted"].includes(word));
  if (!process.argv.includes("--planted")) {
    run("unshare", [...within, ...given]);
    process.exit(0);
  }
  const { stdout } = spawnSync(process.execPath, [program, "--bugs"], { encoding: "utf8" });
  const missed = stdout
    .trim()
    .split("\n")
    .filter((bug) => {
      const { status } = spawnSync("unshare", [...within, ...given, "--bug", bug], { cwd: root });
      console.log(`${status === 1 ? "found" : "MISSED"}: ${bug}`);
      return status !== 1;
    });
  process.exit(missed.length === 0 ? 0 : 1);
}

/** The library that lets clocks and disks of database hosts fail. */
function buildHostFaults(folder) {
  const source = join(root, "tests", "verify", "cluster", "host-faults.c");
  const flags = ["-shared", "-fPIC", "-O2", "-o", join(folder, "host-faults.so"), source, "-ldl"];
  const { error } = spawnSync("cc", flags, { stdio: "inherit" });
  if (error === undefined) return;
  console.error("a C compiler is missing; on Debian: apt-get install gcc libc6-dev");
  process.exit(2);
}
