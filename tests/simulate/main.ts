import { fork } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { historyText } from "../verify/history-file.ts";
import type { Operation } from "../verify/history.ts";
import { findBug } from "./find-bug.ts";
import { planOf, workloads as allWorkloads, type Plan } from "./plan.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { shrink } from "./shrink.ts";
import { simulate, type Outcome } from "./simulation.ts";
import { Totals, type SeedResult } from "./totals.ts";

const { values } = parseArgs({
  options: {
    /** Number of seeds. */
    seeds: { type: "string" },
    /** The first of them. */
    from: { type: "string", default: "1" },
    /** Runs one seed and prints what happened. */
    seed: { type: "string" },
    /** Runs a plan that was printed before. */
    plan: { type: "string" },
    /** Multiplies the operations of each seed. */
    long: { type: "string", default: "1" },
    processes: { type: "string", default: String(availableParallelism()) },
    /** Continues an earlier run with the same record. */
    resume: { type: "boolean", default: false },
    record: { type: "string", default: ".build/simulation/seeds.jsonl" },
    /** Whether a failing seed is not made smaller. */
    whole: { type: "boolean", default: false },
    /** Plants each of the bugs, and reports how many seeds find it. */
    planted: { type: "boolean", default: false },
    /** A folder that receives the history of each seed; see docs/HISTORY-FORMAT.md. */
    histories: { type: "string" },
    child: { type: "boolean", default: false },
  },
});
const problemsShown = 5;
const problemCharactersMax = 1500;
const progressSeconds = 10;
const plantedCharactersMax = 160;

function chosenPlan(seed: number): Plan {
  const plan = planOf(seed);
  return { ...plan, operationsMax: plan.operationsMax * Number(values.long) };
}

if (values.child) await serveParent();
else if (values.planted) await findPlanted();
else if (values.plan !== undefined) await runOne(JSON.parse(values.plan) as Plan);
else if (values.seed !== undefined) await runOne(chosenPlan(Number(values.seed)));
else await runMany();

/** A child process: runs the seeds that its parent sends. */
async function serveParent(): Promise<void> {
  process.on("message", (seed: number) => {
    void runSeed(seed).then((result) => process.send?.(result));
  });
  await once(process, "disconnect");
  process.exit(0);
}

async function runSeed(seed: number): Promise<SeedResult> {
  const before = process.cpuUsage();
  const { counts, findings: _, history, ...rest } = await simulate(chosenPlan(seed));
  storeHistory(seed, history, rest.problems);
  const { user, system } = process.cpuUsage(before);
  return { seed, ...rest, counts: [...counts], cpuSeconds: (user + system) / 1e6 };
}

/** Problems other than violations may have ended the run before the final reads. */
function storeHistory(
  seed: number,
  history: readonly Operation[],
  problems: readonly string[],
): void {
  const { histories } = values;
  if (histories === undefined) return;
  mkdirSync(histories, { recursive: true });
  const about = { source: "simulate", seed, complete: problems.length === 0 };
  writeFileSync(
    join(histories, `simulate-${seed}.jsonl`),
    historyText(about, history, allWorkloads),
  );
}

async function runOne(plan: Plan): Promise<void> {
  console.log(JSON.stringify(plan));
  const outcome = await simulate(plan);
  storeHistory(plan.seed, outcome.history, outcome.problems);
  const { operations, seconds, events, messages, hash } = outcome;
  console.log({ operations, seconds, events, messages, hash, counts: outcome.counts });
  for (const { workload, operations: calls, unknown, refused } of outcome.findings) {
    console.log(`${workload}: ${calls} calls, ${refused} refused, ${unknown} without a response`);
  }
  show(outcome);
  if (outcome.problems.length === 0) return;
  if (!values.whole) {
    console.log("making it smaller ...");
    const smallest = await shrink(plan, (smaller) => {
      const { operationsMax, workloads } = smaller;
      console.log(`  ${operationsMax} operations, ${workloads.join()}, ${smaller.events.join()}`);
    });
    show(await simulate(smallest));
    console.log(`npm run simulate -- --plan '${JSON.stringify(smallest)}'`);
  }
  process.exit(1);
}

/** Runs seeds with each planted bug until one finds it. */
async function findPlanted(): Promise<void> {
  let missed = 0;
  for (const { bug, plant } of plantedBugs) {
    const { seeds, operations, problem } = await findBug(plant, Number(values.seeds ?? 40));
    const isFound = problem !== undefined;
    if (!isFound) missed += 1;
    console.log(
      `${isFound ? "found" : "MISSED"} after ${seeds} seeds, ${operations} calls: ${bug}`,
    );
    if (isFound) console.log(`  ${problem.split("\n")[0]?.slice(0, plantedCharactersMax)}`);
  }
  process.exit(missed === 0 ? 0 : 1);
}

function show({ problems }: Pick<Outcome, "problems">): void {
  console.log(`${problems.length} problems`);
  for (const problem of problems.slice(0, problemsShown)) {
    console.log(`- ${problem.slice(0, problemCharactersMax)}`);
  }
}

/** Runs many seeds in several processes, and appends each result to the record. */
async function runMany(): Promise<void> {
  const { record, resume } = values;
  mkdirSync(dirname(record), { recursive: true });
  if (!resume) rmSync(record, { force: true });
  const totals = new Totals(Number(values.seeds ?? 200));
  for (const line of existsSync(record) ? readFileSync(record, "utf8").split("\n") : []) {
    if (line !== "") totals.add(JSON.parse(line) as SeedResult);
  }
  const first = Number(values.from);
  const seeds = Array.from({ length: totals.wanted }, (_, index) => first + index).filter(
    (seed) => !totals.has(seed),
  );
  const timer = setInterval(() => console.log(totals.progress()), progressSeconds * 1000);
  const stored = values.histories === undefined ? [] : ["--histories", values.histories];
  const words = ["--child", "--long", values.long, ...stored];
  const children = Array.from({ length: Number(values.processes) }, async () => {
    const child = fork(process.argv[1] ?? "", words);
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      child.send(seed);
      const result = await resultOf(child, seed);
      appendFileSync(record, `${JSON.stringify(result)}\n`);
      totals.add(result);
      if (result.problems.length === 0) continue;
      console.log(`seed ${seed} fails: npm run simulate -- --seed ${seed} --long ${values.long}`);
      show(result);
    }
    child.disconnect();
  });
  await Promise.all(children);
  clearInterval(timer);
  console.log(totals.report());
  process.exit(totals.failed.length === 0 ? 0 : 1);
}

/** The child may also end: an exception that nothing catches is a finding. */
async function resultOf(child: ReturnType<typeof fork>, seed: number): Promise<SeedResult> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = async (): Promise<SeedResult> => {
    await once(child, "exit", { signal });
    throw new Error(`seed ${seed} ended its process: npm run simulate -- --seed ${seed}`);
  };
  const answered = async (): Promise<SeedResult> => {
    const [result] = (await once(child, "message", { signal })) as [SeedResult];
    return result;
  };
  try {
    return await Promise.race([answered(), ended()]);
  } finally {
    waiting.abort();
  }
}
