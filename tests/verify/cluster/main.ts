/**
 * `npm run verify -- --cluster`: the workloads on three nodes with a database, a standby and a
 * bucket, each in a network namespace, while the network and the machines fail.
 */
import { mkdirSync, mkdtempSync, openSync, writeFileSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Clients } from "../clients.ts";
import { EventReceiver } from "../event-receiver.ts";
import { historyText } from "../history-file.ts";
import { operationsIn, unavailableAsUnknown, type Operation } from "../history.ts";
import { randomFrom } from "../random.ts";
import { readHistories } from "../read-histories.ts";
import { monotonicMicroseconds } from "../recorder.ts";
import { report } from "../report.ts";
import { settingOf } from "../session.ts";
import { judge, type Finding } from "../verdict.ts";
import type { Setting, Workload } from "../workload.ts";
import { workloads as allWorkloads } from "../workloads/all.ts";
import { Cluster } from "./cluster.ts";
import { clusterFaults, runClusterFaults, type ClusterFault } from "./faults.ts";
import { clusterBugs, type ClusterBug } from "./planted.ts";

const { values } = parseArgs({
  options: {
    /** Ten minutes is the long form, which also fences nodes. */
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    clients: { type: "string", default: "1" },
    workloads: { type: "string", default: allWorkloads.map(({ name }) => name).join() },
    faults: { type: "string" },
    /** A bug that is planted into the cluster, by its name. */
    bug: { type: "string" },
    /** Prints the names of all bugs. */
    bugs: { type: "boolean", default: false },
    record: { type: "string" },
    histories: { type: "string" },
    program: { type: "string", default: join(process.cwd(), "bin", "etagere") },
  },
});
if (values.bugs) {
  console.log(clusterBugs.map(({ name }) => name).join("\n"));
  process.exit(0);
}
const seed = Number(values.seed);
const seconds = Number(values.seconds);
const longSeconds = 300;
const epochSeconds = 4;
const clientsEach = 2;
const microsecondsPerSecond = 1_000_000;
const bug = values.bug === undefined ? undefined : bugNamed(values.bug);
const chosen = allWorkloads.filter(({ name }) =>
  (bug?.workloads.join() ?? values.workloads).split(",").includes(name),
);
const faults = chosenFaults();

const folder = mkdtempSync(join(tmpdir(), "etagere-cluster-"));
const recorded = join(folder, "history");
mkdirSync(recorded);
let receiver: EventReceiver | undefined;
const cluster = await Cluster.open({
  folder,
  program: values.program,
  oldPrimary: bug?.oldPrimary,
  async webhook(host) {
    receiver = await EventReceiver.open(host);
    return receiver.url;
  },
});
const { counts, unfinished } = await runAll();
const operations = operationsIn(await readHistories(recorded));
if (values.histories !== undefined) storeHistory(values.histories);
const findings = [...judge(chosen, unavailableAsUnknown(operations)), unfinishedFinding()];
const isGreen = findings.every(({ problems }) => problems.length === 0);
const text = report({
  seed,
  seconds,
  findings,
  faults: counts,
  servers: cluster.nodes.length,
  shared: "database with a standby, and one bucket, in network namespaces",
  kept: folder,
  isGreen,
});
console.log(text);
if (values.record !== undefined) writeFileSync(values.record, `${text}\n`);
if (isGreen || bug !== undefined) await rm(folder, { recursive: true, force: true });
process.exit(isGreen ? 0 : 1);

function unfinishedFinding(): Finding {
  const counted = { keys: 0, operations: 0, unknown: 0, refused: 0 };
  return { workload: "final reads", ...counted, problems: unfinished };
}

function bugNamed(name: string): ClusterBug {
  const found = clusterBugs.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new Error(`no bug ${name}; there are ${clusterBugs.map((one) => one.name).join(", ")}`);
}

/** To fence a node takes most of a minute. */
function chosenFaults(): readonly ClusterFault[] {
  if (bug !== undefined) return bug.faults;
  const all = Object.keys(clusterFaults) as ClusterFault[];
  const names: readonly string[] =
    values.faults?.split(",") ?? all.filter((name) => name !== "fencing" || seconds >= longSeconds);
  return all.filter((name) => names.includes(name));
}

async function runAll() {
  await bug?.plant?.(cluster);
  const began = monotonicMicroseconds();
  const own = ownSetting(began);
  for (const workload of chosen) await workload.setUp(own);
  const until = began + seconds * microsecondsPerSecond;
  const isOver = (): boolean => monotonicMicroseconds() > until;
  const orders = {
    servers: cluster.nodes.map(({ server }) => server.endpoints),
    began,
    until,
    epochSeconds,
    workloads: chosen.map(({ name }) => name),
    clientsEach,
  };
  const clients = new Clients(orders, seed, recorded);
  for (let count = 0; count < Number(values.clients); count += 1) clients.add();
  const happened = await runClusterFaults(cluster, randomFrom(seed), faults, isOver);
  await clients.ended();
  const failures = await finishAll(own);
  await cluster.close();
  return { counts: happened, unfinished: failures };
}

function ownSetting(began: number): Setting {
  const file = openSync(join(recorded, "main.jsonl"), "a");
  return settingOf({
    client: "main",
    servers: cluster.nodes.map(({ server }) => server.endpoints),
    random: randomFrom(seed),
    epochSeconds,
    began,
    write: (event) => void writeSync(file, `${JSON.stringify(event)}\n`),
    delivered: () => receiver?.events ?? [],
  });
}

/** Problems, if the final reads are not possible. */
async function finishAll(setting: Setting): Promise<readonly string[]> {
  const sofar = operationsIn(await readHistories(recorded));
  const keysOf = ({ name }: Workload): readonly string[] => [
    ...new Set(sofar.filter(({ workload }) => workload === name).map(({ key }: Operation) => key)),
  ];
  const ends = await Promise.allSettled(
    chosen.map((workload) => workload.finish(setting, keysOf(workload))),
  );
  return ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
}

function storeHistory(target: string): void {
  mkdirSync(target, { recursive: true });
  const planted = bug === undefined ? {} : { planted: bug.name };
  const about = { source: "cluster", seed, complete: unfinished.length === 0, ...planted };
  const name = `cluster-${bug === undefined ? "" : `${bug.name}-`}${seed}`.replaceAll(/\W+/g, "-");
  writeFileSync(join(target, `${name}.jsonl`), historyText(about, operations, chosen));
}
