// `npm run bench -- --feed`: CPU time per request that a subscriber of the event feed costs, in
// process and on the memory engine. Rounds with and without a subscriber alternate.
import type { ServerResponse } from "node:http";
import type { ViewContext } from "../../src/admin/admin-context.ts";
import { Feed } from "../../src/admin/feed/feed.ts";
import { feedKinds } from "../../src/admin/feed/subscriber.ts";
import type { RawCall } from "../../src/admin/routes.ts";
import { serverGrant } from "../../src/admin/security/grant.ts";
import { Health } from "../../src/admin/views/health.ts";
import { newMetrics } from "../../src/server/metrics.ts";
import { openInProcess } from "./in-process.ts";

const rounds = 40;
const requestsPerRound = 2000;
const clients = 16;
const body = Buffer.alloc(1024, "x");
const blobType = "x-ms-blob-type: BlockBlob\r\n";

const observer = { watch: undefined };
const server = await openInProcess(undefined, { observer });
const blob = server.httpService("blob");
const client = server.connect("blob");
const metrics = newMetrics();
const noFigures = { residentBytes: 0, heapUsedBytes: 0, cpuSeconds: 0 };
const context = {
  ...blob,
  observer,
  httpServices: { blob },
  figures: { sample: () => metrics.sample(noFigures) },
  sizes: () => Promise.resolve({}),
} as unknown as ViewContext;
const feed = new Feed(context, new Health(context));

const put = (path: string, headers = "", expect = 201) =>
  client.send({ method: "PUT", path, headers: blobType + headers, body, expect });
const operations: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
  "Get Blob": () => client.send({ method: "GET", path: "cost/read", expect: 200 }),
  "Put Blob": (index) => put(`cost/${index % 500}`),
  "Put Blob, 412": () => put("cost/read", 'If-Match: "0x1"\r\n', 412),
};
await client.send({ method: "PUT", path: "cost?restype=container", expect: 201 });
await put("cost/read");
for (const [name, run] of Object.entries(operations)) {
  await measure(run);
  const plain: number[] = [];
  const subscribed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, so that drift of the machine affects both alike.
    if (round % 2 === 0) plain.push(await measure(run));
    subscribed.push(await withSubscriber(() => measure(run)));
    if (round % 2 === 1) plain.push(await measure(run));
  }
  const [without, more] = [median(plain), median(subscribed) - median(plain)];
  console.log(`${name}: ${without.toFixed(1)} µs, with a subscriber ${more.toFixed(1)} µs more`);
}
await server.stop();

async function withSubscriber(work: () => Promise<number>): Promise<number> {
  const query = new URLSearchParams({ kinds: feedKinds.join(",") });
  const request = { query, grant: serverGrant, isValid: () => true, administers: () => true };
  await feed.route().serve({ request, response: discardingResponse() } as unknown as RawCall);
  const result = await work();
  feed.close();
  return result;
}

function discardingResponse(): ServerResponse {
  const nothing = (): void => {};
  const response = { write: nothing, end: nothing, on: nothing, destroy: nothing };
  return { ...response, writeHead: nothing, writableLength: 0 } as unknown as ServerResponse;
}

/** CPU microseconds per request. */
async function measure(run: (index: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requestsPerRound) {
      next += 1;
      await run(next);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsPerRound;
}

function median(values: readonly number[]): number {
  return (
    values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
  );
}
