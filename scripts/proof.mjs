// `npm run proof`: the long forms of everything that proves the contract, one after the other, with
// their figures in docs/proof and on docs/CONTRACT.md. It takes about an hour on two cores.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./prepare.mjs";

const results = join(root, "docs", "proof");
mkdirSync(results, { recursive: true });
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
