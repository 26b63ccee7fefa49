import { mkdirSync, mkdtempSync, openSync, writeFileSync, writeSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { Clients } from "./clients.ts";
import { EventReceiver } from "./event-receiver.ts";
import { historyText } from "./history-file.ts";
import { operationsIn, type Operation } from "./history.ts";
import { faultNames, runNemesis, type FaultName } from "./nemesis.ts";
import { randomFrom } from "./random.ts";
import { readHistories } from "./read-histories.ts";
import { monotonicMicroseconds } from "./recorder.ts";
import { report } from "./report.ts";
import { ServerProcess } from "./server-process.ts";
import { settingOf } from "./session.ts";
import { StoreMeddler } from "./store-meddler.ts";
import { judge, type Finding } from "./verdict.ts";
import type { Setting, Workload } from "./workload.ts";
import { workloads as allWorkloads } from "./workloads/all.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "150" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    servers: { type: "string", default: "2" },
    /** A common id for processes of several machines on one database. */
    nodes: { type: "string" },
    /** URL of a shared database; otherwise they share a data folder. */
    store: { type: "string" },
    clients: { type: "string", default: "2" },
    workloads: { type: "string", default: allWorkloads.map(({ name }) => name).join() },
    faults: { type: "string", default: faultNames.join() },
    /** A file that receives the report, too. */
    record: { type: "string" },
    /** A folder that receives the history as one file; see docs/HISTORY-FORMAT.md. */
    histories: { type: "string" },
    program: { type: "string", default: join(process.cwd(), "bin", "etagere") },
  },
});
const seed = Number(values.seed);
const seconds = Number(values.seconds);
const epochSeconds = 4;
const clientsEach = 3;
const microsecondsPerSecond = 1_000_000;
const chosen = allWorkloads.filter(({ name }) => values.workloads.split(",").includes(name));
const enabled = faultNames.filter((name) => values.faults.split(",").includes(name));

const folder = mkdtempSync(join(tmpdir(), "etagere-verify-"));
const histories = join(folder, "history");
mkdirSync(histories);
const receiver = await EventReceiver.open();
const servers = Array.from(
  { length: Number(values.nodes ?? values.servers) },
  () =>
    new ServerProcess({
      program: values.program,
      location: join(folder, "data"),
      store: values.store,
      webhook: receiver.url,
      preloads: ["clock-jump.js", "slow-disk.js"].map((name) => join(import.meta.dirname, name)),
    }),
);

const faults = await runAll();
const operations = operationsIn(await readHistories(histories));
if (values.histories !== undefined) storeHistory(values.histories);
const findings = [...judge(chosen, operations), ...(await checkData())];
const isGreen = findings.every(({ problems }) => problems.length === 0);
const text = report({
  seed,
  seconds,
  findings,
  faults,
  servers: servers.length,
  shared: values.store === undefined ? "data folder" : "database",
  kept: folder,
  isGreen,
});
console.log(text);
if (values.record !== undefined) writeFileSync(values.record, `${text}\n`);
if (isGreen) await rm(folder, { recursive: true, force: true });
process.exit(isGreen ? 0 : 1);

function storeHistory(target: string): void {
  mkdirSync(target, { recursive: true });
  const stored = historyText({ source: "verify", seed, complete: true }, operations, chosen);
  writeFileSync(join(target, `verify-${seed}.jsonl`), stored);
}

async function runAll(): Promise<ReadonlyMap<FaultName, number>> {
  for (const server of servers) await server.start();
  const began = monotonicMicroseconds();
  const own = ownSetting(began);
  for (const workload of chosen) await workload.setUp(own);
  const until = began + seconds * microsecondsPerSecond;
  const isOver = (): boolean => monotonicMicroseconds() > until;
  const orders = {
    servers: servers.map(({ endpoints }) => endpoints),
    began,
    until,
    epochSeconds,
    workloads: chosen.map(({ name }) => name),
    clientsEach,
  };
  const clients = new Clients(orders, seed, histories);
  for (let count = 0; count < Number(values.clients); count += 1) clients.add();
  const isOnDisk = values.store === undefined;
  const meddler = isOnDisk ? new StoreMeddler(join(folder, "data", "store")) : undefined;
  const field = { servers, replaceClient: () => clients.replaceOldest(), meddler };
  const counts = await runNemesis(field, randomFrom(seed), enabled, isOver);
  await meddler?.close();
  await clients.ended();
  await finishAll(own);
  for (const server of servers) await server.kill("SIGTERM");
  return counts;
}

/** The disk use after all clients have ended. */
async function checkData(): Promise<readonly Finding[]> {
  if (values.store !== undefined) return [];
  const location = join(folder, "data");
  const { problems } = await checkFolder({ location, clock: realClock(), log: silentLog });
  return [{ workload: "data folder", keys: 0, operations: 0, unknown: 0, refused: 0, problems }];
}

function ownSetting(began: number): Setting {
  const file = openSync(join(histories, "main.jsonl"), "a");
  return settingOf({
    client: "main",
    servers: servers.map(({ endpoints }) => endpoints),
    random: randomFrom(seed),
    epochSeconds,
    began,
    write: (event) => void writeSync(file, `${JSON.stringify(event)}\n`),
    delivered: () => receiver.events,
  });
}

async function finishAll(setting: Setting): Promise<void> {
  const sofar = operationsIn(await readHistories(histories));
  const keysOf = ({ name }: Workload): readonly string[] => [
    ...new Set(sofar.filter(({ workload }) => workload === name).map(({ key }: Operation) => key)),
  ];
  await Promise.all(chosen.map((workload) => workload.finish(setting, keysOf(workload))));
}
