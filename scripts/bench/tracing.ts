// `npm run bench -- --tracing [SHARE [ROUNDS]]`: CPU time per request that tracing costs: without,
// and with a share of sampled requests, 0.01 unless given. In process and on the memory engine,
// without sockets: two processes of the same server differ by more than tracing costs. The
// collector is another process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openTelemetry } from "../../src/server/telemetry/open-telemetry.ts";
import { realClock, realRandom } from "../../src/host/world.ts";
import { compareAlternating, comparedInProcess, type Operation } from "./alternating.ts";
import { openInProcess } from "./in-process.ts";
import type { Client } from "./target.ts";

const roundsDefault = 20;
/** So many that batches of spans are exported in each round. */
const requestsPerRound = 50_000;
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

const [share = "0.01", rounds = String(roundsDefault)] = process.argv.slice(2);
process.env["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio";
process.env["OTEL_TRACES_SAMPLER_ARG"] = share;
const names = ["without tracing", `${share} sampled`, "without again"];
const telemetry = openTelemetry({ url, ...world });
const tracers = [undefined, telemetry.tracer, undefined];
const servers = await Promise.all(tracers.map((tracer) => openInProcess(undefined, { tracer })));
const compared = servers.map((server, index) =>
  comparedInProcess(names[index] ?? "", server.connect("blob")),
);
for (const { clients } of compared) {
  const client = clients[0]!;
  await client.send({ method: "PUT", path: "cost?restype=container", expect: 201 });
  await put(client, "cost/read");
}
await compareAlternating(compared, operations, Number(rounds));
for (const server of servers) await server.stop();
await telemetry.close();
child.kill();
