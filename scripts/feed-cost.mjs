import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get, request } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** What watching the live feed costs: first what is done for a request that is watched, by itself;
 *  then CPU time of the server per request, watched and unwatched in turns, which only a quiet
 *  machine tells exactly. `node scripts/feed-cost.mjs [program]`; it wants a built server. */

const program = resolve(process.argv[2] ?? "dist/cli/main.js");
const rounds = 16;
const requestsPerRound = 4000;
const connections = 16;
const account = "devstoreaccount1";
const keptOpen = new Agent({ keepAlive: true, maxSockets: connections, timeout: 2000 });

await alone();
const folder = mkdtempSync(join(tmpdir(), "etagere-feed-cost-"));
const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
const child = spawn(process.execPath, [program, "--location", folder, ...ports], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  await measure(await addresses());
} finally {
  child.kill();
  await new Promise((ended) => child.once("exit", ended));
  rmSync(folder, { recursive: true, force: true });
}

async function alone() {
  const built = (path) => import(pathToFileURL(resolve(program, "../..", path)).href);
  const { seenIn } = await built("admin/feed/seen.js");
  const { shownSeen } = await built("admin/feed/shown.js");
  const { blobService } = await built("blob/service.js");
  const observe = (name, status, value) => {
    const operation = blobService.operations.find((each) => each.name === name);
    const address = { resource: "blob", container: "cost", blob: "a/b" };
    const call = { account, address, operation, input: {}, resource: { leaseKind: "blob" } };
    const headers = { "user-agent": "azsdk-js-azure-storage-blob/12.32.0", "if-match": '"0x1"' };
    return {
      door: { clock: { wall: () => BigInt(Date.now()) }, service: blobService },
      request: { method: "PUT", headers, remoteAddress: "127.0.0.1" },
      progress: { requestId: "1", operation, principal: { kind: "key" }, call },
      result: { ok: true, value },
      reply: { status, headers: {} },
    };
  };
  const stale = { rule: "condition", target: { etag: 7n }, now: 9n, unmet: "If-Match" };
  const fault = { code: "ConditionNotMet", detail: { unmet: "If-Match" } };
  const cases = {
    "Get Blob": observe("Get Blob", 200, { kind: "reply", etag: 5n, status: 200 }),
    "Put Blob": observe("Put Blob", 201, { kind: "reply", etag: 5n, status: 201 }),
    "Put Blob, 412": observe("Put Blob", 412, { kind: "fault", fault, refusal: stale }),
  };
  for (const [name, observed] of Object.entries(cases)) {
    const seen = [];
    const noted = each(() => seenIn(observed, (one) => (seen[0] = one)));
    const shown = () => JSON.stringify(shownSeen({ blob: { service: blobService } }, seen[0]));
    const worded = seen.length === 0 ? "not told" : `${each(shown).toFixed(2)} µs to be worded`;
    process.stdout.write(`${name}: ${noted.toFixed(3)} µs to be noted, ${worded}\n`);
  }
}

/** Microseconds of CPU for one call, when it is warm. */
function each(work) {
  const count = 200_000;
  for (let warm = 0; warm < count; warm += 1) work();
  const before = process.cpuUsage();
  for (let run = 0; run < count; run += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

async function addresses() {
  let text = "";
  for await (const chunk of child.stdout) {
    text += chunk;
    const blob = /Blob service is successfully listening at (\S+)/.exec(text)?.[1];
    const admin = /admin is successfully listening at (\S+)/.exec(text)?.[1];
    if (blob !== undefined && admin !== undefined) return { blob, admin };
  }
  throw new Error("the server did not start");
}

async function measure({ blob, admin }) {
  const signed = await send(`${admin}/admin/v1/sas`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ account }),
  });
  const { query } = JSON.parse(signed.body);
  const base = `${blob}/${account}/cost`;
  await send(`${base}?restype=container&${query}`, { method: "PUT" });
  const kinds = {
    "reads (Get Blob)": () => send(`${base}/read?${query}`),
    "writes (Put Blob)": (index) => put(`${base}/${index % 500}?${query}`),
    "refusals (412)": () => put(`${base}/read?${query}`, { "If-Match": '"0x1"' }),
  };
  await put(`${base}/read?${query}`);
  process.stdout.write(`${cpus()[0]?.model}, Node ${process.version}; ${rounds} rounds of `);
  process.stdout.write(`${requestsPerRound}, ${connections} connections, medians\n`);
  for (const [name, run] of Object.entries(kinds)) {
    await round(admin, run);
    const found = { unwatched: [], watched: [] };
    for (let turn = 0; turn < rounds; turn += 1) {
      // First one, then the other comes first: what drifts must not favour either.
      if (turn % 2 === 0) found.unwatched.push(await round(admin, run));
      const stop = await watch(admin);
      found.watched.push(await round(admin, run));
      stop();
      if (turn % 2 === 1) found.unwatched.push(await round(admin, run));
    }
    const [plain, watched] = [median(found.unwatched), median(found.watched)];
    const more = (100 * (watched / plain - 1)).toFixed(1);
    process.stdout.write(`${name}: ${plain.toFixed(1)} µs unwatched, `);
    process.stdout.write(`${watched.toFixed(1)} µs watched, ${more} %\n`);
  }
}

/** Microseconds of CPU that the server took for each request. */
async function round(admin, run) {
  const before = await cpuSeconds(admin);
  let next = 0;
  const client = async () => {
    while (next < requestsPerRound) {
      next += 1;
      await run(next);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return (((await cpuSeconds(admin)) - before) * 1e6) / requestsPerRound;
}

async function cpuSeconds(admin) {
  const { body } = await send(`${admin}/metrics`, { agent: false });
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(body)?.[1]);
}

function watch(admin) {
  return new Promise((watching, reject) => {
    const kinds = "refused,lease,message,change,health";
    const stream = get(`${admin}/admin/v1/feed?kinds=${kinds}`, (answer) => {
      answer.once("data", () => watching(() => stream.destroy()));
      answer.resume();
      answer.on("error", () => {});
    });
    stream.on("error", reject);
  });
}

function put(url, headers = {}) {
  const all = { "x-ms-blob-type": "BlockBlob", "x-ms-version": "2023-11-03", ...headers };
  return send(url, { method: "PUT", headers: all, body: "x".repeat(1024) });
}

function send(url, { method = "GET", headers = {}, body = "", agent = keptOpen } = {}) {
  return new Promise((resolved, reject) => {
    const length = { "Content-Length": Buffer.byteLength(body) };
    const sent = request(url, { method, agent, headers: { ...headers, ...length } }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => (text += chunk));
      answer.on("end", () => resolved({ status: answer.statusCode, body: text }));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
