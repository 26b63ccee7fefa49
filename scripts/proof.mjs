// `npm run proof`: the suites that prove the contract on real processes, one after the other.
//   npm run proof                       the long forms, about 90 minutes on two cores; writes their
//                                       figures to docs/proof and docs/CONTRACT.md
//   npm run proof -- --short            the short forms, about 16 minutes; writes nothing
//   npm run proof -- --only kill,soak   some of them
// The environment variables in `parts` change the size of a suite, e.g. ETAGERE_KILLS=20.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root, run } from "./prepare.mjs";
import { orUsage } from "./script-options.mjs";
import { runTests } from "./test.mjs";

const results = join(root, "docs", "proof");

/**
 * `long` and `short` are environment variables; `record` names the variable and file of figures.
 * Suites of `npm test` that have a long form run with its configuration (`isTest`).
 */
const parts = [
  { name: "verify", run: runVerify },
  // That the checkers of `verify` find the bugs that are planted.
  { name: "planted-bugs", tests: "tests/verify", long: {}, short: {} },
  {
    name: "kill",
    tests: "tests/kill",
    // 200 kills under more than a million writes, half with two processes on the folder.
    long: { ETAGERE_KILLS: "200", ETAGERE_KILL_REQUESTS: "150", ETAGERE_QUEUE_KILLS: "50" },
    short: { ETAGERE_KILLS: "4", ETAGERE_KILL_REQUESTS: "200", ETAGERE_QUEUE_KILLS: "3" },
    record: { ETAGERE_KILL_RECORD: "kill" },
  },
  {
    name: "workers",
    tests: "tests/workers",
    // Single workers of a server are killed, or do not start.
    long: { ETAGERE_WORKER_KILLS: "50", ETAGERE_WORKER_KILL_REQUESTS: "1000" },
    short: { ETAGERE_WORKER_KILLS: "2", ETAGERE_WORKER_KILL_REQUESTS: "100" },
    record: { ETAGERE_WORKER_KILL_RECORD: "workers.txt" },
  },
  {
    name: "rolling",
    tests: "tests/rolling",
    // Rolling restarts and kills of workers, with a trace of every request.
    long: { ETAGERE_ROLLING_SECONDS: "600" },
    short: { ETAGERE_ROLLING_SECONDS: "20" },
  },
  {
    name: "power-cut",
    tests: "tests/power-cut",
    long: { ETAGERE_CUTS: "300", ETAGERE_CUT_STEPS: "60" },
    short: { ETAGERE_CUTS: "40", ETAGERE_CUT_STEPS: "30" },
    record: { ETAGERE_CUT_RECORD: "power-cut.txt" },
  },
  {
    name: "database",
    tests: "tests/postgres",
    long: { ETAGERE_KILL_ROUNDS: "20", ETAGERE_FAILOVER_ROUNDS: "20" },
    short: { ETAGERE_KILL_ROUNDS: "2", ETAGERE_FAILOVER_ROUNDS: "2" },
  },
  {
    name: "soak",
    tests: "tests/soak",
    long: { ETAGERE_SOAK_SECONDS: "600" },
    short: { ETAGERE_SOAK_SECONDS: "10" },
    record: { ETAGERE_SOAK_RECORD: "soak.txt" },
  },
  {
    name: "events",
    tests: "tests/events",
    long: { ETAGERE_EVENT_CHANGES: "1000000", ETAGERE_EVENT_KILLS: "20" },
    short: { ETAGERE_EVENT_CHANGES: "3000", ETAGERE_EVENT_KILLS: "3" },
    record: { ETAGERE_EVENT_RECORD: "events.txt" },
  },
  { name: "package", tests: "tests/package", long: {}, short: {} },
  { name: "fixtures", tests: "tests/fixtures", long: {}, short: {} },
  // Alone on the machine: they judge how long the event loop is blocked.
  { name: "stalls", tests: "tests/stalls", long: {}, short: {} },
  { name: "archive", tests: "tests/archive", long: {}, short: {} },
  // A half of the browser's tests, times of the page, judged alone on the machine, and every view
  // with realistic data, for the screenshots in the documents.
  { name: "explorer", tests: "tests/explorer", long: {}, short: {} },
  {
    name: "uploads",
    tests: "tests/stress/uploads",
    long: { ETAGERE_UPLOADS: "200", ETAGERE_UPLOAD_MEBIBYTES: "64" },
    short: { ETAGERE_UPLOADS: "60", ETAGERE_UPLOAD_MEBIBYTES: "8" },
  },
  {
    name: "full-disk",
    tests: "tests/stress/full-disk",
    long: { ETAGERE_FULL_DISK_ROUNDS: "20" },
    short: { ETAGERE_FULL_DISK_ROUNDS: "2" },
  },
  {
    name: "fuzz",
    tests: "tests/fuzz",
    isTest: true,
    // Another seed in every long run; a failure prints it.
    long: { ETAGERE_FUZZ_SEED: String(Date.now() % 1_000_000), ETAGERE_FUZZ_REQUESTS: "50000" },
    short: { ETAGERE_FUZZ_REQUESTS: "2000" },
  },
  {
    name: "long-tests",
    tests: longTests(),
    isTest: true,
    // Properties and races with as many repetitions as `npm test` has no time for.
    long: { ETAGERE_LONG_TESTS: "1" },
    short: { ETAGERE_LONG_TESTS: "1" },
  },
];

const { values } = orUsage(import.meta.url, () =>
  parseArgs({
    options: { short: { type: "boolean", default: false }, only: { type: "string" } },
  }),
);
const names = parts.map(({ name }) => name);
const isInForm = (part) => !values.short || part.tests === undefined || part.short !== undefined;
const chosen = values.only?.split(",") ?? parts.filter(isInForm).map(({ name }) => name);
const unknown = chosen.filter((word) => !names.includes(word));
if (unknown.length > 0) {
  console.error(`--only: no suite "${unknown[0]}"; there are ${names.join(", ")}`);
  process.exit(2);
}
const isRecorded = !values.short && values.only === undefined;
if (isRecorded) {
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, "run.txt"), `${describeMachine()}\n`);
}
for (const part of parts.filter(({ name }) => chosen.includes(name))) runPart(part);
if (isRecorded) run(process.execPath, [join("scripts", "docs.mjs")]);
const form = values.short ? "short" : "long";
console.log(`proof: ${chosen.join(", ")} passed in their ${form} form`);

function runPart(part) {
  if (part.run !== undefined) return part.run();
  const records = isRecorded ? Object.entries(part.record ?? {}) : [];
  const environment = {
    ...(values.short ? part.short : part.long),
    ...Object.fromEntries(records.map(([name, file]) => [name, join(results, file)])),
  };
  for (const [name, value] of Object.entries(environment)) process.env[name] ??= value;
  const config = part.isTest ? [] : ["--config", "vitest.proof.config.ts"];
  runTests([...config, ...[part.tests].flat()]);
}

/** The test files that have a long form, by themselves or by the suite of all stores. */
function longTests() {
  const imports = /harness\/(long-form|store\/(conformance|head-reads|order))\.ts"/;
  return ["src", "tests"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
    )
    .filter((path) => path.endsWith(".test.ts"))
    .filter((path) => imports.test(readFileSync(join(root, path), "utf8")));
}

function runVerify() {
  const record = isRecorded ? ["--record", join(results, "verify.txt")] : [];
  const words = ["--seconds", values.short ? "60" : "600", ...record];
  run(process.execPath, [join("scripts", "verify.mjs"), ...words]);
}

function describeMachine() {
  const commit = execFileSync("git", ["rev-parse", "--short=10", "HEAD"], { encoding: "utf8" });
  const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, commit ${commit.trim()}; ${machine}; Linux ${release()}, Node ${process.version}`;
}
