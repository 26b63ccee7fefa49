// `npm run bench:guard`: compares the cost of requests, measured without sockets, with the agreed
// baseline. `--update` makes the measured costs the new baseline.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allocationOf, cpuOf, runSteps } from "./guard/cost.ts";
import type { Cost, Steps } from "./guard/cost.ts";
import { verdictOn } from "./guard/verdict.ts";
import type { Baseline } from "./guard/verdict.ts";
import { yardstick } from "./guard/yardstick.ts";
import { openInProcess } from "./in-process.ts";
import type { InProcess } from "./in-process.ts";
import { scenarioOf } from "./scenarios/all.ts";
import { newFolder } from "./servers.ts";

interface Guarded {
  readonly name: string;
  /** Per round. */
  readonly steps: number;
  readonly requestsPerStep?: number;
}

const guarded: readonly Guarded[] = [
  { name: "put-1k", steps: 4000 },
  { name: "get-1k", steps: 8000 },
  { name: "list-5000", steps: 8 },
  { name: "cas-1000", steps: 4000 },
  { name: "lease", steps: 2000, requestsPerStep: 2 },
  { name: "tbl-insert-Npk", steps: 4000 },
  { name: "tbl-get", steps: 8000 },
  { name: "tbl-merge", steps: 4000 },
  { name: "egt-100", steps: 100 },
  { name: "tbl-query-1000", steps: 100 },
  { name: "q-put", steps: 4000 },
  { name: "q-put-get-delete", steps: 1500, requestsPerStep: 3 },
  { name: "file-create", steps: 3000 },
  { name: "file-put-4k", steps: 2000 },
  { name: "file-get-4k", steps: 6000 },
  { name: "dfs-write-1k", steps: 1500, requestsPerStep: 3 },
  { name: "dfs-rename", steps: 3000 },
];
const workers = 64;
const rounds = 5;
const baselinePath = join(process.cwd(), "scripts", "bench", "guard", "baseline.json");

const { values } = parseArgs({
  options: {
    update: { type: "boolean", default: false },
    only: { type: "string", default: "." },
  },
});
const wanted = guarded.filter(({ name }) => new RegExp(values.only).test(name));
const now = await measureAll();
if (values.update) update(now);
else judge(now);

async function measureAll(): Promise<Baseline> {
  const folders = [newFolder("guard"), newFolder("guard")] as const;
  const flat = await openInProcess(folders[0]);
  // Opened for the first operation that needs it: the other ones are measured without it.
  let tree: InProcess | undefined;
  const costs: Record<string, Cost> = {};
  const sticks = [yardstick(), yardstick()];
  for (const one of wanted) {
    const isHierarchical = scenarioOf(one.name).hierarchical === true;
    if (isHierarchical) tree ??= await openInProcess(folders[1], { hierarchical: true });
    const cost = await measure((isHierarchical ? tree : undefined) ?? flat, one);
    sticks.push(yardstick());
    costs[one.name] = cost;
    const { cpuMicroseconds, allocatedBytes } = cost;
    console.log(
      `${one.name.padEnd(17)} ${cpuMicroseconds.toFixed(1).padStart(8)} µs ` +
        `${allocatedBytes.toFixed(0).padStart(9)} bytes per request`,
    );
  }
  for (const target of [flat, tree]) await target?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  const yardstickMicroseconds = Math.min(...sticks);
  return { node: process.versions.node, yardstickMicroseconds, costs };
}

async function measure(target: InProcess, one: Guarded): Promise<Cost> {
  const scenario = scenarioOf(one.name);
  const name = one.name.replaceAll(/[^a-z0-9]/gi, "").toLowerCase();
  const site = { name, stored: scenario.stored };
  await scenario.fill(target, site);
  const prepared = await scenario.start(target, site);
  const connect = () => target.connect(scenario.service);
  const requestsPerStep = one.requestsPerStep ?? 1;
  const steps: Steps = { prepared, connect, workers, steps: one.steps, requestsPerStep };
  await runSteps(steps);
  const allocatedBytes = Math.round(await allocationOf(steps));
  // Other load can only add to the cost, so the minimum is the best estimate.
  let cpuMicroseconds = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    cpuMicroseconds = Math.min(cpuMicroseconds, await cpuOf(steps));
  }
  return { cpuMicroseconds: Math.round(cpuMicroseconds * 10) / 10, allocatedBytes };
}

/** With `--only`, the other entries are kept. */
function update(measured: Baseline): void {
  const costs = { ...agreed()?.costs, ...measured.costs };
  writeFileSync(baselinePath, `${JSON.stringify({ ...measured, costs }, undefined, 2)}\n`);
  console.log(`written to ${baselinePath}`);
}

function judge(measured: Baseline): void {
  const baseline = agreed();
  if (baseline === undefined) throw new Error(`${baselinePath} is missing: run with --update`);
  const speed = measured.yardstickMicroseconds / baseline.yardstickMicroseconds;
  console.log(`\nthis machine needs × ${speed.toFixed(2)} the time of the baseline's`);
  let worse = 0;
  for (const { name } of wanted) {
    const verdict = verdictOn(name, measured, baseline);
    if (verdict === undefined) continue;
    if (verdict.worse) worse += 1;
    const { cpu, allocation } = verdict;
    const mark = verdict.worse ? "  WORSE" : "";
    const figures = `CPU × ${cpu.toFixed(2)}  allocation × ${allocation.toFixed(2)}`;
    console.log(`${name.padEnd(17)} ${figures}${mark}`);
  }
  if (worse > 0) process.exitCode = 1;
}

function agreed(): Baseline | undefined {
  if (!existsSync(baselinePath)) return undefined;
  return JSON.parse(readFileSync(baselinePath, "utf8")) as Baseline;
}
