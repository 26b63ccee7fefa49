// `npm run bench -- --node 20,22,24,26`: the same server on several versions of Node, in
// alternating rounds. The first word lists the Node binaries; the others are those of `main.ts`.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { compare } from "./compare.ts";
import type { Rounds } from "./compare.ts";
import { parseOptions } from "./options.ts";
import { anonymousMegabytesOf } from "./process-figures.ts";
import { costLine, type ComparedOperation } from "./report/cost-table.ts";
import { writeVersions } from "./report/write-versions.ts";
import { machineNow } from "./results.ts";
import { scenarioOf } from "./scenarios/all.ts";
import { siteOf } from "./scenarios/scenario.ts";
import { startEtagere } from "./servers.ts";
import type { Server } from "./servers.ts";

const measured = (
  "put-1k,get-1k,put-1m,get-8m,list-5000,cas-1000," +
  "tbl-insert-Npk,egt-100,tbl-query-1000,q-get-delete,file-put-4k"
).split(",");
/** V8 compiles code in several steps, each after more executions than the one before. */
const warmUpSeconds = 4;

const [binaries = "", ...words] = process.argv.slice(2);
const options = parseOptions(words);
const load: Rounds = {
  ...options.load,
  warmUpSeconds: words.includes("--quick") ? options.load.warmUpSeconds : warmUpSeconds,
};
mkdirSync(options.out, { recursive: true });
const servers: Server[] = [];
try {
  for (const node of binaries.split(",")) servers.push(await startOn(node));
  const operations: ComparedOperation[] = [];
  for (const name of measured.filter((each) => options.only.test(each))) {
    operations.push(await measure(name));
  }
  const versions = servers.map(({ address, pid }) => ({
    version: address.name,
    anonymousMegabytes: anonymousMegabytesOf(pid),
  }));
  writeVersions(options.out, { machine: machineNow(), load, versions, operations });
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

/** The server is named after the version. */
async function startOn(node: string): Promise<Server> {
  const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim().replace("v", "");
  const server = await startEtagere({ program: options.program, node });
  return { ...server, address: { ...server.address, name: version } };
}

async function measure(name: string): Promise<ComparedOperation> {
  const scenario = scenarioOf(name);
  const site = siteOf(scenario);
  const participants = servers.map((server) => ({ server, site, filled: false }));
  const figures = await compare(scenario, participants, load);
  const operation = { name, title: scenario.title, figures };
  console.log(costLine(operation));
  return operation;
}
