import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { findBug } from "./find-bug.ts";
import { keepPlan, keptPlansPath } from "./kept-plans.ts";
import { planOf, type Plan } from "./plan.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { SeedRunner, serveParent, type Job } from "./seed-runner.ts";
import { shrink } from "./shrink.ts";
import { resultsIn, Totals } from "./totals.ts";

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
    /** Adds the smallest failing plan to those of every test run, with this description. */
    keep: { type: "string" },
    /** Plants each of the bugs, and reports how many seeds find it. */
    planted: { type: "boolean", default: false },
    /** Plants one of them, whose name contains this. */
    bug: { type: "string" },
    /** A folder that receives the history of each seed; see docs/HISTORY-FORMAT.md. */
    histories: { type: "string" },
    child: { type: "boolean", default: false },
  },
});
const problemsShown = 5;
const problemCharactersMax = 1500;
const progressSeconds = 10;
const plantedCharactersMax = 160;
const plantedSeedsMax = 40;
/** A longer run of a seed is a hang: it takes seconds, or a minute for simulated hours. */
const seedSecondsMax = 900;
const shrinkSecondsMax = 50;

const long = Number(values.long);
const stored = values.histories === undefined ? {} : { histories: values.histories };
const bugs = plantedBugs.filter(({ bug }) => bug.includes(values.bug ?? ""));

function chosenPlan(seed: number): Plan {
  const plan = planOf(seed);
  return { ...plan, operationsMax: plan.operationsMax * long };
}

if (values.child) await serveParent();
else if (values.planted) await findPlanted();
else if (values.plan !== undefined) await runOne(JSON.parse(values.plan) as Plan);
else if (values.seed !== undefined) await runOne(chosenPlan(Number(values.seed)));
else await runMany();

function newRunner(): SeedRunner {
  return new SeedRunner(process.argv[1] ?? "", seedSecondsMax * Math.max(1, long));
}

async function runOne(plan: Plan): Promise<void> {
  console.log(JSON.stringify(plan));
  const [planted] = values.bug === undefined ? [] : bugs;
  const job = (of: Plan): Job => ({ plan: of, ...stored, ...(planted && { bug: planted.bug }) });
  const runner = newRunner();
  const result = await runner.run(job(plan));
  const { operations, seconds, events, messages, hash, counts, problems } = result;
  console.log({ operations, seconds, events, messages, hash, counts: new Map(counts) });
  for (const line of result.summary) console.log(line);
  show(problems);
  if (problems.length > 0 && !values.whole) await makeSmaller(runner, job, plan, problems);
  runner.stop();
  process.exit(problems.length === 0 ? 0 : 1);
}

/** Searches the smallest plan that still fails, and prints it. */
async function makeSmaller(
  runner: SeedRunner,
  job: (plan: Plan) => Job,
  plan: Plan,
  problems: readonly string[],
): Promise<void> {
  const started = Date.now();
  const seconds = (): number => (Date.now() - started) / 1000;
  console.log("making it smaller ...");
  const run = async (of: Plan) => (await runner.run(job(of))).problems;
  const smallest = await shrink(plan, problems, {
    run,
    isOver: () => seconds() > shrinkSecondsMax,
    report: ({ operationsMax, workloads, events, processes, clientsEach }) => {
      const size = `${operationsMax} operations, ${processes} processes, ${clientsEach} clients`;
      console.log(`  ${size} each: ${[...workloads, ...events].join(", ")}`);
    },
  });
  console.log(`smallest after ${seconds().toFixed(0)} s`);
  show(await run(smallest));
  console.log(`npm run simulate -- --plan '${JSON.stringify(smallest)}'`);
  if (values.keep === undefined) return;
  keepPlan(keptPlansPath, { found: values.keep, plan: smallest });
  console.log(`kept in ${keptPlansPath}`);
}

/** Runs seeds with each planted bug until one finds it. */
async function findPlanted(): Promise<void> {
  let missed = 0;
  const left = [...bugs];
  await inProcesses(async (runner) => {
    for (let planted = left.shift(); planted !== undefined; planted = left.shift()) {
      const seedsMax = Number(values.seeds ?? plantedSeedsMax);
      const { seeds, operations, problem } = await findBug(runner, planted, seedsMax);
      const isFound = problem !== undefined;
      if (!isFound) missed += 1;
      const verdict = isFound ? "found" : "MISSED";
      console.log(`${verdict} after ${seeds} seeds, ${operations} calls: ${planted.bug}`);
      if (isFound) console.log(`  ${problem.split("\n")[0]?.slice(0, plantedCharactersMax)}`);
    }
  });
  process.exit(missed === 0 ? 0 : 1);
}

async function inProcesses(work: (runner: SeedRunner) => Promise<void>): Promise<void> {
  const runners = Array.from({ length: Number(values.processes) }, newRunner);
  await Promise.all(
    runners.map(async (runner) => {
      await work(runner);
      runner.stop();
    }),
  );
}

function show(problems: readonly string[]): void {
  console.log(`${problems.length} problems`);
  for (const problem of problems.slice(0, problemsShown)) {
    console.log(`- ${problem.slice(0, problemCharactersMax)}`);
  }
}

/** Runs many seeds in several processes, and appends each result to the record. */
async function runMany(): Promise<void> {
  const { record, resume } = values;
  const first = Number(values.from);
  const totals = new Totals(Number(values.seeds ?? 200));
  const found = resume && existsSync(record) ? resultsIn(readFileSync(record, "utf8")) : [];
  const kept = found.filter(
    (result) => result.seed >= first && result.seed < first + totals.wanted && result.long === long,
  );
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, kept.map((result) => `${JSON.stringify(result)}\n`).join(""));
  for (const result of kept) totals.add(result);
  const seeds = Array.from({ length: totals.wanted }, (_, index) => first + index).filter(
    (seed) => !totals.has(seed),
  );
  const timer = setInterval(() => console.log(totals.progress()), progressSeconds * 1000);
  await inProcesses(async (runner) => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const result = { ...(await runner.run({ plan: chosenPlan(seed), ...stored })), long };
      appendFileSync(record, `${JSON.stringify(result)}\n`);
      totals.add(result);
      if (result.problems.length === 0) continue;
      console.log(`seed ${seed} fails: npm run simulate -- --seed ${seed} --long ${values.long}`);
      show(result.problems);
    }
  });
  clearInterval(timer);
  console.log(totals.report());
  process.exit(totals.failed.length === 0 ? 0 : 1);
}
