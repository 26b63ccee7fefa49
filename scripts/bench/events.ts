// `npm run bench -- --events`: what an event log costs, and how fast a webhook gets its events. Two
// servers, with a change feed and without, get the same puts of 1 KiB in alternating rounds. Then a
// receiver in another process counts the events of a webhook, and measures when each one arrives.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { developmentAccountName as account } from "../../src/account/settings.ts";
import { processesCpuSeconds } from "./process-figures.ts";
import { newFolder, startEtagere, type Server } from "./servers.ts";
import { targetAt, type Client } from "./target.ts";

const rounds = Number(process.env["ETAGERE_EVENT_ROUNDS"] ?? 12);
const roundSeconds = 3;
const connections = 32;
const body = Buffer.alloc(1024, "x");
const headers = "x-ms-blob-type: BlockBlob\r\n";
const bulk = 20_000;
const singles = 200;
const pauseMilliseconds = 20;

/** Counts events, and prints the time of each one. */
const receiverProgram = `
const server = require("node:http").createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const [{ subject }] = JSON.parse(Buffer.concat(chunks).toString());
    response.end();
    console.log(subject.split("/").at(-1), String(process.hrtime.bigint()));
  });
});
server.listen(0, "127.0.0.1", () => console.log("port", server.address().port));
`;

interface Arrivals {
  readonly url: string;
  /** Nanoseconds by name of the blob. */
  readonly times: ReadonlyMap<string, bigint>;
  stop(): void;
}

async function startReceiver(): Promise<Arrivals> {
  const child = spawn(process.execPath, ["-e", receiverProgram], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const times = new Map<string, bigint>();
  const lines = createInterface({ input: child.stdout });
  const [first] = (await once(lines, "line")) as [string];
  lines.on("line", (line) => {
    const [name = "", time = "0"] = line.split(" ");
    times.set(name, BigInt(time));
  });
  const url = `http://127.0.0.1:${first.split(" ")[1]}/`;
  return { url, times, stop: () => void child.kill() };
}

async function startWith(settings: object, words: readonly string[] = []): Promise<Server> {
  const location = newFolder("events");
  mkdirSync(location, { recursive: true });
  const config = join(location, "..", `${location.split("/").at(-1)}-config.json`);
  writeFileSync(config, JSON.stringify({ accounts: { [account]: settings } }));
  const program = "dist/cli/main.js";
  const server = await startEtagere({ program, location, more: [`--config=${config}`, ...words] });
  const client = targetAt(server.address).connect("blob");
  await client.open();
  await client.send({ method: "PUT", path: "events?restype=container", expect: 201 });
  client.close();
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(location, { recursive: true, force: true });
    rmSync(config, { force: true });
  };
  return { ...server, stop };
}

const put = (client: Client, name: string) =>
  client.send({ method: "PUT", path: `events/${name}`, headers, body, expect: 201 });

/** Puts with all connections while `isDue` returns true; returns how many. */
async function load(server: Server, prefix: string, isDue: (sent: number) => boolean) {
  const target = targetAt(server.address);
  let sent = 0;
  const work = async (): Promise<void> => {
    const client = target.connect("blob");
    await client.open();
    while (isDue(sent)) {
      sent += 1;
      await put(client, `${prefix}${sent}`);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: connections }, work));
  return sent;
}

interface Round {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

async function measure(server: Server, round: number): Promise<Round> {
  const ends = performance.now() + roundSeconds * 1000;
  const before = processesCpuSeconds(server.pid);
  const began = performance.now();
  const count = await load(server, `${round}-`, () => performance.now() < ends);
  const seconds = (performance.now() - began) / 1000;
  const cpu = processesCpuSeconds(server.pid) - before;
  return { perSecond: count / seconds, cpuMicroseconds: (cpu / count) * 1_000_000 };
}

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

async function measureFeed(): Promise<void> {
  const plain = await startWith({});
  const feeding = await startWith({ changeFeed: true });
  const ratios: number[] = [];
  const costs: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? [plain, feeding] : [feeding, plain];
      const results = new Map<Server, Round>();
      for (const server of order) results.set(server, await measure(server, round));
      const [without, with_] = [results.get(plain)!, results.get(feeding)!];
      if (round < 2) continue;
      ratios.push(with_.perSecond / without.perSecond);
      costs.push(with_.cpuMicroseconds / without.cpuMicroseconds);
      console.log(
        `${without.perSecond.toFixed(0)} / ${with_.perSecond.toFixed(0)} puts per second`,
      );
    }
  } finally {
    await plain.stop();
    await feeding.stop();
  }
  const rate = (median(ratios) * 100).toFixed(0);
  console.log(`put 1 KiB with the change feed: ${rate} % of the rate without (median of pairs)`);
  console.log(`CPU time per put: ${(median(costs) * 100).toFixed(0)} %`);
}

async function measureWebhook(): Promise<void> {
  const receiver = await startReceiver();
  const subscriptions = { hook: { destination: { webhook: receiver.url } } };
  const server = await startWith({ subscriptions }, [`--eventWebhooks=${receiver.url}`]);
  try {
    const client = targetAt(server.address).connect("blob");
    await client.open();
    const delays: number[] = [];
    for (let index = 0; index < singles; index += 1) {
      await put(client, `single-${index}`);
      const acknowledged = process.hrtime.bigint();
      while (!receiver.times.has(`single-${index}`)) await pause(1);
      const at = receiver.times.get(`single-${index}`) ?? 0n;
      delays.push(Math.max(0, Number(at - acknowledged) / 1_000_000));
      await pause(pauseMilliseconds);
    }
    client.close();
    const sorted = delays.toSorted((left, right) => left - right);
    const at = (part: number): string => (sorted[Math.floor(part * singles)] ?? 0).toFixed(1);
    console.log(`webhook when idle: median ${at(0.5)} ms, p99 ${at(0.99)} ms after the response`);
    const began = performance.now();
    await load(server, "bulk-", (sent) => sent < bulk);
    const written = performance.now();
    while (receiver.times.size < bulk + singles) await pause(5);
    const ended = performance.now();
    const seconds = (ended - began) / 1000;
    const rest = ((ended - written) / 1000).toFixed(1);
    console.log(
      `webhook under load: ${bulk} events, ${(bulk / seconds).toFixed(0)} per second ` +
        `with the puts; the last one ${rest} s after the last put`,
    );
  } finally {
    await server.stop();
    receiver.stop();
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

await measureFeed();
await measureWebhook();
