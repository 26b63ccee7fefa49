// Compares the cost of requests in this checkout with an earlier commit, in alternating pairs of
// runs: on a shared machine only runs that are close in time can be compared.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureInstalled, root } from "../prepare.mjs";

/** Limits for a change, as ratios of medians. */
const allocationRatioMax = 1.03;
const cpuRatioMax = 1.05;

export async function comparePairs() {
  const { values } = parseArgs({
    options: {
      against: { type: "string" },
      pairs: { type: "string", default: "7" },
      only: { type: "string", default: "." },
    },
  });
  ensureInstalled();
  const earlier = mkdtempSync(join(tmpdir(), "etagere-against-"));
  const git = (...words) => execFileSync("git", words, { cwd: root, stdio: "pipe" });
  git("worktree", "add", "--detach", earlier, values.against);
  try {
    installEarlier(earlier);
    const runs = [];
    for (let pair = 1; pair <= Number(values.pairs); pair += 1) {
      // The second run of a pair has a warmer machine, so the order alternates.
      const order = pair % 2 === 1 ? [earlier, root] : [root, earlier];
      const costs = new Map(order.map((folder) => [folder, measure(folder, values.only)]));
      runs.push({ before: costs.get(earlier), after: costs.get(root) });
      console.log(`pair ${pair} of ${values.pairs} measured`);
    }
    if (!report(runs)) process.exitCode = 1;
  } finally {
    git("worktree", "remove", "--force", earlier);
    rmSync(earlier, { recursive: true, force: true });
  }
}

/** Shares node_modules unless the earlier commit has another lock file. */
function installEarlier(earlier) {
  const lock = (folder) => execFileSync("cat", [join(folder, "package-lock.json")]);
  if (lock(earlier).equals(lock(root))) {
    symlinkSync(join(root, "node_modules"), join(earlier, "node_modules"));
    // A lock file that is newer than node_modules would be installed, into the shared folder.
    utimesSync(join(earlier, "package-lock.json"), new Date(0), new Date(0));
  } else {
    spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: earlier, stdio: "inherit" });
  }
  if (!existsSync(join(earlier, "node_modules"))) throw new Error("npm ci failed there");
}

/** CPU microseconds and allocated bytes per request, by scenario. */
function measure(folder, only) {
  const script = join("scripts", "bench-guard.mjs");
  const words = [script, "--only", only];
  const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const { stdout } = spawnSync(process.execPath, words, options);
  const costs = new Map();
  const line = /^(\S+)\s+([\d.]+) µs\s+(\d+) bytes per request$/gm;
  for (const [, name, cpu, bytes] of stdout.matchAll(line)) {
    costs.set(name, { cpu: Number(cpu), bytes: Number(bytes) });
  }
  if (costs.size === 0) throw new Error(`no figures from ${folder}: ${stdout}`);
  return costs;
}

/** Whether no scenario exceeds its limit. */
function report(runs) {
  const names = [...runs[0].after.keys()].filter((name) => runs[0].before.has(name));
  let isWithin = true;
  console.log(`\n${"scenario".padEnd(17)}  CPU before → after, µs   ratio  allocation ratio`);
  for (const name of names) {
    const side = (key, of) => median(runs.map((run) => run[of].get(name)[key]));
    const cpu = median(runs.map(({ before, after }) => after.get(name).cpu / before.get(name).cpu));
    const bytes = side("bytes", "after") / side("bytes", "before");
    const isWorse = cpu > cpuRatioMax || bytes > allocationRatioMax;
    if (isWorse) isWithin = false;
    const change = `${side("cpu", "before").toFixed(1)} → ${side("cpu", "after").toFixed(1)}`;
    const mark = isWorse ? "  WORSE" : "";
    console.log(
      `${name.padEnd(17)}  ${change.padStart(22)}  ${cpu.toFixed(3)}  ${bytes.toFixed(3)}${mark}`,
    );
  }
  return isWithin;
}

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
