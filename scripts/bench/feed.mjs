import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** What watching the live feed costs: CPU time per request, without a network, in rounds that are
 *  watched and not in turns. `npm run bench -- --feed [dist]`; it wants a built server. */

const dist = resolve(process.argv[2] ?? "dist");
const built = (path) => import(pathToFileURL(resolve(dist, path)).href);
const rounds = 40;
const requestsPerRound = 2000;
const clients = 16;

const { openEngines } = await built("server/engines.js");
const { doorOf, services } = await built("server/services.js");
const { realClock, realRandom } = await built("server/world.js");
const { newMetrics } = await built("server/metrics.js");
const { resolveOptions } = await built("server/options.js");
const { accountsOf, developmentAccount } = await built("account/settings.js");
const { ensureAccountRecords } = await built("account/account-records.js");
const { serveRequest } = await built("http/serve.js");
const { signSas } = await built("admin/sas/sign-sas.js");
const { readSasWish } = await built("admin/sas/sas-wish.js");
const { Feed } = await built("admin/feed/feed.js");
const { Health } = await built("admin/views/health.js");

const account = developmentAccount();
const accounts = accountsOf([account]);
const clock = realClock();
const random = realRandom();
const log = { debug() {}, info() {}, warn: console.error, error: console.error };
const meter = newMetrics();
const engines = await openEngines({ services, clock, random, log, meter });
await ensureAccountRecords(engines.store, accounts.names(), random);
const observer = { watch: undefined };
const { value: options } = resolveOptions({ port: 0, inMemoryPersistence: true });
const world = { clock, random, log, meter, observer, accounts, engines, options };
const door = doorOf(services[0], world);
const figures = { residentBytes: 0, heapUsedBytes: 0, cpuSeconds: 0 };
const administered = {
  ...world,
  doors: { blob: door },
  smb: undefined,
  runtime: door.runtime,
  figures: { sample: () => meter.sample(figures) },
  sizes: async () => ({}),
};
const feed = new Feed(administered, new Health(administered));
const wish = readSasWish({ account: account.name });
const { query } = signSas(account, wish, { now: clock.wall(), urls: {} });
const body = Buffer.alloc(1024, "x");

const kinds = {
  "Get Blob": () => send("GET", "cost/read?"),
  "Put Blob": (index) => put(`cost/${index % 500}?`),
  "Put Blob, 412": () => put("cost/read?", { "if-match": '"0x1"' }),
};
await send("PUT", "cost?restype=container&");
await put("cost/read?");
for (const [name, run] of Object.entries(kinds)) {
  await round(run);
  const found = { plain: [], watched: [] };
  for (let turn = 0; turn < rounds; turn += 1) {
    // First one, then the other comes first: what drifts must not favour either.
    if (turn % 2 === 0) found.plain.push(await round(run));
    found.watched.push(await watching(() => round(run)));
    if (turn % 2 === 1) found.plain.push(await round(run));
  }
  const [plain, watched] = [median(found.plain), median(found.watched)];
  const more = (watched - plain).toFixed(1);
  console.log(`${name}: ${plain.toFixed(1)} µs, watched ${more} µs more`);
}
process.exit();

async function watching(work) {
  const kindsWatched = "refused,lease,message,change,health";
  feed.open({ query: new URLSearchParams({ kinds: kindsWatched }) }, deafResponse());
  const result = await work();
  feed.close();
  return result;
}

function deafResponse() {
  const response = { write() {}, end() {}, on() {}, destroy() {}, writableLength: 0 };
  return { ...response, writeHead: () => response };
}

/** Microseconds of CPU for each request. */
async function round(run) {
  const before = process.cpuUsage();
  let next = 0;
  const client = async () => {
    while (next < requestsPerRound) {
      next += 1;
      await run(next);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsPerRound;
}

function put(path, headers = {}) {
  return send("PUT", path, { "x-ms-blob-type": "BlockBlob", ...headers }, body);
}

async function send(method, path, headers = {}, bytes) {
  const reply = await serveRequest(door, {
    method,
    target: `/${account.name}/${path}${query}`,
    headers: {
      host: "127.0.0.1",
      "x-ms-version": "2023-11-03",
      "user-agent": "feed-cost",
      "content-length": String(bytes?.length ?? 0),
      ...headers,
    },
    rawHeaders: [],
    body: chunksOf(bytes),
    secure: false,
    remoteAddress: "127.0.0.1",
    proceed() {},
  });
  if (reply.body?.kind === "stream") reply.body.reader.close();
}

async function* chunksOf(bytes) {
  if (bytes !== undefined) yield bytes;
}

function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
