// `npm run proof`: the long forms of everything that proves the contract, one after the other, with
// their figures in docs/proof and on docs/CONTRACT.md. It takes about an hour on two cores.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join } from "node:path";
import { root, run } from "./prepare.mjs";

const results = join(root, "docs", "proof");
mkdirSync(results, { recursive: true });
writeFileSync(join(results, "run.txt"), `${runText()}\n`);
process.env["ETAGERE_KILL_RECORD"] = join(results, "kill");
process.env["ETAGERE_CUT_RECORD"] = join(results, "power-cut.txt");
process.env["ETAGERE_SOAK_RECORD"] = join(results, "soak.txt");
const scripts = [
  ["verify.mjs", "--seconds", "600", "--record", join(results, "verify.txt")],
  ["kill.mjs"],
  ["power-cut.mjs"],
  ["soak.mjs"],
  ["docs.mjs"],
];
for (const [name, ...words] of scripts) run(process.execPath, [join("scripts", name), ...words]);

/** When and where it ran, and what. */
function runText() {
  const commit = execFileSync("git", ["rev-parse", "--short=10", "HEAD"], { encoding: "utf8" });
  const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, commit ${commit.trim()}; ${machine}; Linux ${release()}, Node ${process.version}`;
}
