// `npm run bench -- --tracing [SHARE]`: CPU time per request that tracing costs, in process and on
// the memory engine: without, and with a share of sampled requests, 0.01 unless given. The
// collector is another process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openTelemetry } from "../../src/server/telemetry/open-telemetry.ts";
import { realClock, realRandom } from "../../src/host/world.ts";
import { compareAlternating, type Operation } from "./alternating.ts";
import { openInProcess } from "./in-process.ts";
import type { Client } from "./target.ts";

const rounds = 40;
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
const sampled = (ratio: string) => {
  process.env["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio";
  process.env["OTEL_TRACES_SAMPLER_ARG"] = ratio;
  return openTelemetry({ url, ...world });
};

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

const [share = "0.01"] = process.argv.slice(2);
const telemetry = sampled(share);
const tracers = [undefined, telemetry.tracer, undefined];
const names = ["without tracing", `${share} sampled`, "without again"];
const servers = await Promise.all(tracers.map((tracer) => openInProcess(undefined, { tracer })));
const compared = servers.map((server, index) => {
  return { name: names[index] ?? "", client: server.connect("blob") };
});
for (const { client } of compared) {
  await client.send({ method: "PUT", path: "cost?restype=container", expect: 201 });
  await put(client, "cost/read");
}
await compareAlternating(compared, operations, rounds);
for (const server of servers) await server.stop();
await telemetry.close();
child.kill();
