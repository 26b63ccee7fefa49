// `npm run bench -- --workers`: one worker against two with the same load, in alternating rounds.
// The generators are C programs (wrk, h2load), because they share the processors with the server.
import { rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { processesCpuSeconds } from "./process-figures.ts";
import { machineNow } from "./results.ts";
import { createContainer, putBlob } from "./scenarios/blobs.ts";
import { newFolder, startEtagere, startPlain, type Server } from "./servers.ts";
import { fill, targetAt } from "./target.ts";
import { measureLatency, type Latency } from "./workers/latency.ts";
import { commitsOf, type Commits } from "./workers/commits.ts";
import { pageOf } from "./workers/page.ts";
import { bodyBytes, container, loads, runWrk, storedBlobs, type Load } from "./workers/wrk.ts";

const connectionCounts = [64, 256, 1];
const { values: options } = parseArgs({
  options: {
    program: { type: "string", default: "dist/cli/main.js" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "5" },
    counts: { type: "string", default: "1,2" },
    /** A page of the documents for the figures. */
    page: { type: "string" },
  },
});
/** V8 compiles the code of a load for about this long. */
const compileSeconds = 10;
/** Time for connections to be divided among the workers. */
const warmUpSeconds = 2;
const seconds = Number(options.seconds);

/** The figures of one load on one server; medians of the rounds. Ratios are to the first server in
 *  the same round. */
export interface WorkerRow {
  readonly load: string;
  readonly server: string;
  readonly connections: number;
  readonly perSecond: number;
  readonly rateRatio: number;
  readonly cpuRatio: number;
  readonly cpuMicroseconds: number;
  readonly generatorMicroseconds: number;
  readonly generatorUserMicroseconds: number;
  /** Undefined without commits. */
  readonly transactionsPerCommit: number | undefined;
}

export interface LatencyRow extends Latency {
  readonly load: string;
  readonly server: string;
  readonly rate: number;
}

interface SetUp {
  readonly name: string;
  readonly server: Server;
}

const folder = newFolder("load");
const setUps: SetUp[] = [];
const rows: WorkerRow[] = [];
const latencies: LatencyRow[] = [];
try {
  for (const count of options.counts.split(",")) setUps.push(await startWith(Number(count)));
  const plain = await startPlain("content", undefined);
  setUps.push({ name: "plain Node", server: plain });
  for (const load of loads) {
    for (const { server } of setUps) {
      const port = server.address.ports.blob ?? 0;
      await runWrk(load, { folder, port, connections: 64, seconds: compileSeconds });
    }
    for (const connections of connectionCounts) await measureAll(load, connections);
  }
  for (const load of loads.slice(0, 2))
    for (const setUp of setUps) await measureAtHalf(load, setUp);
} finally {
  await Promise.all(setUps.map(({ server }) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
const text = pageOf(machineNow(), rows, latencies, { seconds, rounds: Number(options.rounds) });
console.log(text);
if (options.page !== undefined) writeFileSync(options.page, text);

async function startWith(workers: number): Promise<SetUp> {
  const server = await startEtagere({ program: options.program, workers });
  const target = targetAt(server.address);
  await createContainer(target, { name: container, stored: storedBlobs });
  const body = "x".repeat(bodyBytes);
  await fill({ target, service: "blob", count: storedBlobs }, (client, index) =>
    client.send(putBlob(`${container}/o${index}`, body)),
  );
  return { name: `${workers} worker${workers === 1 ? "" : "s"}`, server };
}

async function measureAll(load: Load, connections: number): Promise<void> {
  const rounds: WorkerRow[][] = setUps.map(() => []);
  for (let round = 0; round < Number(options.rounds); round += 1) {
    let base: Figures | undefined;
    for (const [index, setUp] of setUps.entries()) {
      const figures = await measureOnce(load, setUp, connections);
      base ??= figures;
      rounds[index]!.push({
        ...figures,
        rateRatio: figures.perSecond / base.perSecond,
        cpuRatio: figures.cpuMicroseconds / base.cpuMicroseconds,
      });
    }
  }
  for (const each of rounds) rows.push(medianOf(each));
  for (const row of rows.slice(-setUps.length)) console.log(JSON.stringify(row));
}

type Figures = Omit<WorkerRow, "rateRatio" | "cpuRatio">;

async function measureOnce(
  load: Load,
  { name, server }: SetUp,
  connections: number,
): Promise<Figures> {
  const port = server.address.ports.blob ?? 0;
  const how = { folder, port, connections };
  await runWrk(load, { ...how, seconds: warmUpSeconds });
  const before = { cpu: processesCpuSeconds(server.pid), commits: await commitsOf(server) };
  const result = await runWrk(load, { ...how, seconds });
  const cpuSeconds = processesCpuSeconds(server.pid) - before.cpu;
  const cpuMicroseconds = (cpuSeconds / (result.perSecond * seconds)) * 1e6;
  const transactionsPerCommit = ratioOf(before.commits, await commitsOf(server));
  return {
    load: load.name,
    server: name,
    connections,
    ...result,
    cpuMicroseconds,
    transactionsPerCommit,
  };
}

function ratioOf(before: Commits | undefined, after: Commits | undefined): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  const commits = after.commits - before.commits;
  return commits < 100 ? undefined : (after.transactions - before.transactions) / commits;
}

/** Latency at half of the highest rate of the server. */
async function measureAtHalf(load: Load, { name, server }: SetUp): Promise<void> {
  const isThis = (row: WorkerRow): boolean =>
    row.load === load.name && row.server === name && row.connections === 64;
  const rate = (rows.find(isThis)?.perSecond ?? 0) / 2;
  const port = server.address.ports.blob ?? 0;
  const how = { folder, port, connections: 64, rate, seconds: seconds + 1 };
  const row = { load: load.name, server: name, rate, ...(await measureLatency(load, how)) };
  latencies.push(row);
  console.log(JSON.stringify(row));
}

/** The median of each figure. */
function medianOf(rounds: readonly WorkerRow[]): WorkerRow {
  const median = (figure: (row: WorkerRow) => number): number =>
    rounds.map(figure).toSorted((one, other) => one - other)[Math.floor(rounds.length / 2)]!;
  const hasCommits = rounds.every(({ transactionsPerCommit }) => transactionsPerCommit);
  return {
    ...rounds[0]!,
    perSecond: median((row) => row.perSecond),
    rateRatio: median((row) => row.rateRatio),
    cpuMicroseconds: median((row) => row.cpuMicroseconds),
    cpuRatio: median((row) => row.cpuRatio),
    generatorMicroseconds: median((row) => row.generatorMicroseconds),
    generatorUserMicroseconds: median((row) => row.generatorUserMicroseconds),
    transactionsPerCommit: hasCommits ? median((row) => row.transactionsPerCommit ?? 0) : undefined,
  };
}
