// `npm run bench -- --nodes`: the same operations on lmdb, and on a PostgreSQL with one node
// and with three, in turns. Nodes, database and callers share the machine's processors.
import { rmSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import pg from "pg";
import { measure } from "./measure.ts";
import type { Run } from "./measure.ts";
import { cpuSecondsOf } from "./process-figures.ts";
import { scenarioOf } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { newFolder, startEtagere } from "./servers.ts";
import type { Server } from "./servers.ts";
import { targetAt } from "./target.ts";
import type { Target } from "./target.ts";

interface SetUp {
  readonly name: string;
  readonly nodes: readonly Server[];
  readonly target: Target;
  /** Where several nodes keep their bytes. */
  readonly folder?: string;
}

interface Figures {
  readonly operation: string;
  readonly setUp: string;
  readonly callers: number;
  readonly perSecond: number;
  readonly medianMilliseconds: number;
  readonly p99Milliseconds: number;
  /** Of one processor, for one step. */
  readonly nodeMicroseconds: number;
  readonly databaseMicroseconds: number;
  /** Round trips that were shared or not: what the database has carried out for one step. */
  readonly databaseTransactions: number;
  readonly errors: number;
}

const { values: options } = parseArgs({
  options: {
    database: { type: "string", default: "" },
    /** Its first process. */
    databasePid: { type: "string", default: "0" },
    program: { type: "string", default: "dist/cli/main.js" },
    seconds: { type: "string", default: "6" },
    callers: { type: "string", default: "1,64" },
    only: { type: "string", default: "put-1k,get-1k,tbl-insert-Npk,q-get-delete" },
    out: { type: "string" },
    /** A page of the documents for the same figures. */
    page: { type: "string" },
  },
});
const warmUpSeconds = 1;
/** So that a run does not take them all. */
const messagesStored = 20_000;
const objectsStored = 2000;
const pageColumns = [
  "operation",
  "set-up",
  "callers",
  "per second",
  "median ms",
  "p99 ms",
  "node µs",
  "database µs",
  "database transactions",
  "errors",
];
const statistics = new pg.Client({ connectionString: options.database });

await statistics.connect();
const setUps = [await onDisk(), await onDatabase(1), await onDatabase(3)];
const all: Figures[] = [];
try {
  for (const name of options.only.split(",")) await compare(scenarioOf(name));
} finally {
  for (const { nodes, folder } of setUps) {
    for (const node of nodes) await node.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  await statistics.end();
}
const machine = `${cpus().length} processors, ${cpus()[0]?.model ?? ""}`;
if (options.out !== undefined) {
  writeFileSync(options.out, `${JSON.stringify({ machine, options, all }, null, 2)}\n`);
}
if (options.page !== undefined) writeFileSync(options.page, pageOf(all));
console.log(`\n${machine}; nodes, database and callers share them`);

async function onDisk(): Promise<SetUp> {
  const node = await startEtagere({ program: options.program });
  return { name: "lmdb", nodes: [node], target: targetAt(node.address) };
}

async function onDatabase(count: number): Promise<SetUp> {
  const url = new URL(options.database);
  url.searchParams.set("schema", `bench_${count}`);
  const location = newFolder("nodes");
  const nodes: Server[] = [];
  for (let index = 0; index < count; index += 1) {
    nodes.push(await startEtagere({ program: options.program, location, store: url.href }));
  }
  const targets = nodes.map(({ address }) => targetAt(address));
  let connections = 0;
  const name = `PostgreSQL, ${count} ${count === 1 ? "node" : "nodes"}`;
  const connect: Target["connect"] = (service) => {
    connections += 1;
    const target = targets[connections % count] as Target;
    return target.connect(service);
  };
  return { name, nodes, target: { name, fillers: 64, connect }, folder: location };
}

async function compare(scenario: Scenario): Promise<void> {
  console.log(`\n${scenario.name}: ${scenario.title}`);
  console.log(
    "set-up                callers    ops/s   median ms    p99 ms  node µs/op  database µs/op  " +
      "database transactions/op  errors",
  );
  const stored = scenario.service === "queue" ? messagesStored : objectsStored;
  const site = { name: `bench${scenario.name.replaceAll(/[^a-z]/g, "")}`, stored };
  for (const setUp of setUps) {
    await scenario.fill(setUp.target, site);
    const { step, refill } = await scenario.start(setUp.target, site);
    for (const callers of options.callers.split(",").map(Number)) {
      const load = { service: scenario.service, connections: callers, begin: () => undefined };
      await measure(setUp.target, step, { ...load, seconds: warmUpSeconds });
      await refill?.();
      const before = await costsOf(setUp);
      const run = await measure(setUp.target, step, { ...load, seconds: Number(options.seconds) });
      const after = await costsOf(setUp);
      const figures = figuresOf({ scenario, setUp, callers, run, before, after });
      all.push(figures);
      print(figures);
      await refill?.();
    }
  }
}

interface Costs {
  readonly nodeSeconds: number;
  readonly databaseSeconds: number;
  readonly transactions: number;
}

async function costsOf({ nodes }: SetUp): Promise<Costs> {
  const { rows } = await statistics.query<{ count: string; pids: number[] }>(
    `SELECT sum(xact_commit + xact_rollback) AS count,
       (SELECT array_agg(pid) FROM pg_stat_activity) AS pids FROM pg_stat_database`,
  );
  const [{ count, pids } = { count: "0", pids: [] }] = rows;
  const own = [...pids, Number(options.databasePid)];
  return {
    nodeSeconds: sum(nodes.map(({ pid }) => cpuSecondsOf(pid))),
    databaseSeconds: sum(own.map(cpuSecondsOf)),
    transactions: Number(count),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + (Number.isNaN(each) ? 0 : each), 0);
}

interface Measured {
  readonly scenario: Scenario;
  readonly setUp: SetUp;
  readonly callers: number;
  readonly run: Run;
  readonly before: Costs;
  readonly after: Costs;
}

function figuresOf({ scenario, setUp, callers, run, before, after }: Measured): Figures {
  const each = (key: keyof Costs, scale: number): number =>
    (scale * (after[key] - before[key])) / Math.max(run.steps, 1);
  const isShared = setUp.name !== "lmdb";
  return {
    operation: scenario.name,
    setUp: setUp.name,
    callers,
    perSecond: run.steps / run.seconds,
    medianMilliseconds: run.medianMilliseconds,
    p99Milliseconds: run.p99Milliseconds,
    nodeMicroseconds: each("nodeSeconds", 1e6),
    databaseMicroseconds: isShared ? each("databaseSeconds", 1e6) : 0,
    databaseTransactions: isShared ? each("transactions", 1) : 0,
    errors: run.errors,
  };
}

function print(figures: Figures): void {
  const columns: readonly (readonly [number, number, number])[] = [
    [figures.callers, 9, 0],
    [figures.perSecond, 9, 0],
    [figures.medianMilliseconds, 12, 2],
    [figures.p99Milliseconds, 10, 2],
    [figures.nodeMicroseconds, 12, 0],
    [figures.databaseMicroseconds, 16, 0],
    [figures.databaseTransactions, 26, 2],
    [figures.errors, 8, 0],
  ];
  const cells = columns.map(([value, width, digits]) => value.toFixed(digits).padStart(width));
  console.log(`${figures.setUp.padEnd(20)}${cells.join("")}`);
}

function pageOf(figures: readonly Figures[]): string {
  const when = new Date().toISOString().slice(0, 10);
  const head = [
    "# Benchmark of several nodes on one machine",
    "",
    "Written by `npm run bench -- --nodes --page docs/bench/nodes.md`: the same operations in",
    "one run on lmdb, and on PostgreSQL with one server node and with three. **Server nodes,",
    "database and callers share the processors**: three nodes have no more CPU than one.",
    `${machine}; ${options.seconds} s each, flushes on, ${when}.`,
    "",
    "µs is CPU time per operation (a get and a delete of a message count as one operation).",
    "Database transactions include shared round trips and those of the node's background work.",
    "",
    `| ${pageColumns.join(" | ")} |`,
    "|---|---|---|---|---|---|---|---|---|---|",
  ];
  const rows = figures.map((one) => {
    const cells = [
      one.operation,
      one.setUp,
      one.callers,
      Math.round(one.perSecond),
      one.medianMilliseconds.toFixed(2),
      one.p99Milliseconds.toFixed(2),
      Math.round(one.nodeMicroseconds),
      Math.round(one.databaseMicroseconds),
      one.databaseTransactions.toFixed(2),
      one.errors,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [...head, ...rows, ""].join("\n");
}
