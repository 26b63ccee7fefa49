// `npm run bench -- --peers`: this server, MinIO and versitygw under the same load of wrk, in
// alternating rounds. MinIO flushes what it acknowledges, as this server does; versitygw does not.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { developmentAccountName } from "../../src/account/settings.ts";
import { sha256Hex, signedHeaders } from "../../src/content/s3/signature.ts";
import { median } from "./compare.ts";
import { endWithUs } from "./leftovers.ts";
import { cpuSecondsOf } from "./process-figures.ts";
import { createContainer } from "./scenarios/blobs.ts";
import { newFolder, startEtagere } from "./servers.ts";
import { accountSas, targetAt, version } from "./target.ts";
import { outputOf } from "./workers/wrk.ts";

interface Load {
  readonly name: string;
  readonly method: "GET" | "PUT";
  readonly bytes: number;
  readonly connections: readonly number[];
}

/** A server with a container. */
interface Peer {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** Request line and headers, each with CRLF, for one object. */
  headOf(method: string, object: string): string;
  stop(): Promise<void>;
}

interface Figures {
  readonly perSecond: number;
  readonly cpuMilliseconds: number;
}

const loads: readonly Load[] = [
  { name: "put 1 KiB", method: "PUT", bytes: 1024, connections: [64] },
  { name: "get 1 KiB", method: "GET", bytes: 1024, connections: [64] },
  { name: "put 1 MiB", method: "PUT", bytes: 1024 ** 2, connections: [1, 16, 64] },
  { name: "put 4 MiB", method: "PUT", bytes: 4 * 1024 ** 2, connections: [1, 16] },
];
/** Modules without release versions need pseudo-versions. */
const modules = {
  minio: "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c",
  versitygw: "github.com/versity/versitygw/cmd/versitygw@v1.8.0",
} as const;
const credentials = { accessKeyId: "bench", secretAccessKey: "bench-secret" };
const container = "peers";
/** Objects that are written in turn: few, so that a run does not fill the disk. */
const objects = 256;

const { values: options } = parseArgs({
  options: {
    /** Builds of this server, separated by commas, to compare with each other as well. */
    program: { type: "string", default: "dist/cli/main.js" },
    only: { type: "string", default: "." },
    without: { type: "string", default: "" },
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
  },
});
const folder = newFolder("load");
const peers: Peer[] = [];
try {
  for (const program of options.program.split(",")) peers.push(await openEtagere(program));
  for (const name of ["minio", "versitygw"] as const) {
    if (!options.without.split(",").includes(name)) peers.push(await openPeer(name));
  }
  for (const load of loads.filter(({ name }) => new RegExp(options.only).test(name))) {
    await warmUp(load);
    for (const connections of load.connections) await compareOn(load, connections);
  }
} finally {
  await Promise.all(peers.map((peer) => peer.stop()));
  rmSync(folder, { recursive: true, force: true });
}

/** Also writes all objects, so that reads find them and writes replace them. */
async function warmUp(load: Load): Promise<void> {
  for (const peer of peers) {
    await run(peer, { ...load, method: "PUT" }, 8);
    if (load.method === "GET") await run(peer, load, 8);
  }
}

async function compareOn(load: Load, connections: number): Promise<void> {
  const rounds = new Map<Peer, Figures[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const peer of peers) rounds.get(peer)?.push(await run(peer, load, connections));
  }
  const ofPeer = (peer: Peer): readonly Figures[] => rounds.get(peer) ?? [];
  const [first] = peers;
  for (const peer of peers) {
    const rates = ofPeer(peer).map(({ perSecond }) => perSecond);
    const ratios = ofPeer(first!).map(({ perSecond }, round) => perSecond / rates[round]!);
    const cpu = median(ofPeer(peer).map(({ cpuMilliseconds }) => cpuMilliseconds));
    const range = `${Math.min(...rates).toFixed(0)} – ${Math.max(...rates).toFixed(0)}`;
    const cells = [load.name, connections, peer.name, median(rates).toFixed(0), range];
    console.log(`| ${[...cells, median(ratios).toFixed(2), cpu.toFixed(2)].join(" | ")} |`);
  }
}

/** Fails if a request fails. */
async function run(peer: Peer, { method, bytes }: Load, connections: number): Promise<Figures> {
  const heads = Array.from({ length: objects }, (_, index) => {
    const length = method === "PUT" ? `Content-Length: ${bytes}\r\n` : "";
    return JSON.stringify(`${peer.headOf(method, `o${bytes}-${index}`)}${length}\r\n`);
  });
  const program = join(folder, "load.lua");
  writeFileSync(
    program,
    `local heads = {${heads.join(",\n")}}
local body, count = string.rep("x", ${method === "PUT" ? bytes : 0}), 0
function request()
  count = count + 1
  return heads[count % ${objects} + 1] .. body
end
`,
  );
  const words = ["-t1", `-c${connections}`, `-d${options.seconds}s`, "--timeout", "30s"];
  const before = cpuSecondsOf(peer.pid);
  const text = await outputOf("wrk", [...words, "-s", program, `http://127.0.0.1:${peer.port}`]);
  const cpuSeconds = cpuSecondsOf(peer.pid) - before;
  const requests = Number(/(\d+) requests in/.exec(text)?.[1] ?? 0);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0);
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`${peer.name}: ${text}`);
  return { perSecond, cpuMilliseconds: (cpuSeconds / Math.max(1, requests)) * 1000 };
}

async function openEtagere(program: string): Promise<Peer> {
  const server = await startEtagere({ program });
  await createContainer(targetAt(server.address), { name: container, stored: 0 });
  const port = server.address.ports.blob ?? 0;
  const common = `Host: 127.0.0.1:${port}\r\nx-ms-version: ${version}\r\n`;
  return {
    name: program === "dist/cli/main.js" ? "etagere" : program,
    pid: server.pid,
    port,
    headOf(method, object) {
      const path = `/${developmentAccountName}/${container}/${object}?${accountSas}`;
      const kind = method === "PUT" ? "x-ms-blob-type: BlockBlob\r\n" : "";
      return `${method} ${path} HTTP/1.1\r\n${common}${kind}`;
    },
    stop: () => server.stop(),
  };
}

async function openPeer(name: keyof typeof modules): Promise<Peer> {
  const program = install(name);
  const port = await freePort();
  const data = newFolder(name);
  const { accessKeyId, secretAccessKey } = credentials;
  const listen = `127.0.0.1:${port}`;
  const words =
    name === "minio"
      ? ["server", "--quiet", "--address", listen, "--console-address", "127.0.0.1:0", data]
      : ["--access", accessKeyId, "--secret", secretAccessKey, "--port", listen, "posix", data];
  const env = {
    ...process.env,
    MINIO_ROOT_USER: accessKeyId,
    MINIO_ROOT_PASSWORD: secretAccessKey,
    MINIO_BROWSER: "off",
    MINIO_UPDATE: "off",
  };
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "inherit"], env });
  endWithUs(child);
  await createBucket(port);
  return {
    name,
    pid: child.pid ?? 0,
    port,
    headOf(method, object) {
      const lines = Object.entries(signed(port, method, `/${container}/${object}`));
      const headers = lines.map(([key, value]) => `${key}: ${value}\r\n`).join("");
      return `${method} /${container}/${object} HTTP/1.1\r\n${headers}`;
    },
    async stop() {
      const ended = new Promise((done) => child.once("exit", done));
      child.kill("SIGKILL");
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Compiles a server once, into a folder that git ignores. */
function install(name: keyof typeof modules): string {
  const home = join(process.cwd(), ".bench", "peers");
  const program = join(home, name);
  if (existsSync(program)) return program;
  mkdirSync(home, { recursive: true });
  console.log(`compiling ${modules[name]}, which takes minutes …`);
  const env = { ...process.env, GOBIN: home };
  execFileSync("go", ["install", modules[name]], { stdio: "inherit", env });
  return program;
}

/** The body is not signed: its digest would cost the peers more than all else. */
function signed(port: number, method: string, path: string): Readonly<Record<string, string>> {
  const amzDate = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const bodyDigest = method === "PUT" ? "UNSIGNED-PAYLOAD" : sha256Hex("");
  const host = `127.0.0.1:${port}`;
  return signedHeaders(
    { method, host, path, query: {}, headers: {}, bodyDigest },
    { credentials, region: "us-east-1", amzDate },
  );
}

/** Repeated until the server has started. */
async function createBucket(port: number): Promise<void> {
  const path = `/${container}`;
  const url = `http://127.0.0.1:${port}${path}`;
  for (let attempt = 0; ; attempt += 1) {
    const { host: _, ...headers } = signed(port, "PUT", path);
    const answer = await fetch(url, { method: "PUT", headers }).catch(() => undefined);
    if (answer?.ok === true) return;
    if (attempt === 100) throw new Error(`no bucket: ${await answer?.text()}`);
    await delay(200);
  }
}

/** These programs do not say which port they got. */
function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((found) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => found(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });
}
