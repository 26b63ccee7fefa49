// `npm run bench -- --tracing [--sockets] [SHARE [ROUNDS]]`: CPU time per request that tracing
// costs: without, and with a share of sampled requests, 0.01 unless given. In process and on the
// memory engine, or of server processes with their sockets and data folders. The collector is
// another process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openTelemetry } from "../../src/server/telemetry/open-telemetry.ts";
import { realClock, realRandom } from "../../src/host/world.ts";
import {
  compareAlternating,
  comparedInProcess,
  comparedServer,
  type Compared,
  type Operation,
} from "./alternating.ts";
import { openInProcess } from "./in-process.ts";
import { startEtagere } from "./servers.ts";
import type { Client } from "./target.ts";

const roundsDefault = 40;
const requestsPerRound = 1000;
const body = Buffer.alloc(1024, "x");
const blobType = "x-ms-blob-type: BlockBlob\r\n";
const collector = `require("node:http").createServer((request, response) => {
  request.resume().on("end", () => response.end("{}"));
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

const child = spawn(process.execPath, ["-e", collector], { stdio: ["ignore", "pipe", "inherit"] });
const [port] = (await once(child.stdout, "data")) as [Buffer];
const url = `http://127.0.0.1:${port.toString().trim()}`;
const log = { debug() {}, info() {}, warn: console.warn, error: console.error };
const world = { clock: realClock(), random: realRandom(), log };
interface Started {
  readonly compared: readonly Compared[];
  readonly stop: () => Promise<void>;
}

const put = (client: Client, path: string, headers = "", expect = 201) =>
  client.send({ method: "PUT", path, headers: blobType + headers, body, expect });
const operations: readonly Operation[] = [
  {
    name: "Get Blob",
    requestsPerRound,
    run: (client) => client.send({ method: "GET", path: "cost/read", expect: 200 }),
  },
  {
    name: "Put Blob",
    requestsPerRound,
    run: (client, index) => put(client, `cost/${index % 500}`),
  },
  {
    name: "Put Blob, 412",
    requestsPerRound,
    run: (client) => put(client, "cost/read", 'If-Match: "0x1"\r\n', 412),
  },
];

const words = process.argv.slice(2).filter((word) => word !== "--sockets");
const hasSockets = process.argv.includes("--sockets");
const [share = "0.01", roundsText = String(roundsDefault)] = words;
process.env["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio";
process.env["OTEL_TRACES_SAMPLER_ARG"] = share;
const names = ["without tracing", `${share} sampled`, "without again"];

/** Servers in this process, on the memory engine. */
async function startHere(): Promise<Started> {
  const telemetry = openTelemetry({ url, ...world });
  const tracers = [undefined, telemetry.tracer, undefined];
  const servers = await Promise.all(tracers.map((tracer) => openInProcess(undefined, { tracer })));
  const compared = servers.map((server, index) =>
    comparedInProcess(names[index] ?? "", server.connect("blob")),
  );
  const stop = async (): Promise<void> => {
    for (const server of servers) await server.stop();
    await telemetry.close();
  };
  return { compared, stop };
}

/** Server processes, each with a data folder. */
async function startProcesses(): Promise<Started> {
  const program = "dist/cli/main.js";
  const otlp = [[], [`--otlp=${url}`], []];
  const servers = await Promise.all(
    otlp.map((more) => startEtagere({ program, workers: 1, more })),
  );
  const compared = await Promise.all(
    servers.map((server, index) => comparedServer(names[index] ?? "", server)),
  );
  const stop = async (): Promise<void> => {
    for (const { clients } of compared) for (const client of clients) client.close();
    for (const server of servers) await server.stop();
  };
  return { compared, stop };
}

const { compared, stop } = await (hasSockets ? startProcesses() : startHere());
for (const { clients } of compared) {
  const client = clients[0]!;
  await client.send({ method: "PUT", path: "cost?restype=container", expect: 201 });
  await put(client, "cost/read");
}
await compareAlternating(compared, operations, Number(roundsText));
await stop();
child.kill();
