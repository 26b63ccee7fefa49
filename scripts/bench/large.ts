// `npm run bench -- --large`: fills one container with a million blobs, then measures operations
// whose cost must not depend on that number: listing pages and a search by tags.
import { parseArgs } from "node:util";
import { startEtagere } from "./servers.ts";
import { fill, targetAt } from "./target.ts";
import type { Client } from "./target.ts";

const { values } = parseArgs({ options: { blobs: { type: "string", default: "1000000" } } });
const blobs = Number(values.blobs);
const rareEvery = Math.max(1, Math.floor(blobs / 100));
const buckets = 16;
const rounds = 20;
const body = Buffer.from("a few bytes");

const server = await startEtagere({ program: "dist/cli/main.js" });
const target = targetAt(server.address);
const client = target.connect("blob");
try {
  await fillContainer();
  await measureListing();
  await measureSearches();
} finally {
  client.close();
  await server.stop();
}

async function fillContainer(): Promise<void> {
  await send("PUT", "large?restype=container");
  const began = performance.now();
  await fill({ target, service: "blob", count: blobs }, putBlob);
  const seconds = (performance.now() - began) / 1000;
  report(`put ${blobs} blobs with tags`, `${seconds.toFixed(0)} s, ${perSecond(blobs, seconds)}`);
}

function putBlob(filler: Client, index: number): Promise<unknown> {
  const rare = index % rareEvery === 0 ? "&rare=yes" : "";
  const path = `large/folder${index % 1000}/blob${String(index).padStart(9, "0")}`;
  const tags = `x-ms-tags: bucket=${index % buckets}${rare}\r\n`;
  const headers = `x-ms-blob-type: BlockBlob\r\n${tags}`;
  return filler.send({ method: "PUT", path, headers, body, expect: 201 });
}

/** Lists all pages; returns the durations of the first and the last tenth. */
async function measureListing(): Promise<void> {
  for (const size of [100, 5000]) {
    const times: number[] = [];
    let marker: string | undefined = "";
    for (let page = 0; marker !== undefined && page < 2000; page += 1) {
      const path = `large?restype=container&comp=list&maxresults=${size}&marker=${marker}`;
      const began = performance.now();
      const answer = await send("GET", path);
      times.push(performance.now() - began);
      marker = /<NextMarker>([^<]+)</.exec(answer)?.[1];
      if (marker !== undefined) marker = encodeURIComponent(marker);
    }
    const tenth = Math.max(1, Math.floor(times.length / 10));
    const [first, last] = [times.slice(0, tenth), times.slice(-tenth - 1, -1)].map(median);
    report(`list ${times.length} pages of ${size}`, `first ${ms(first)}, last ${ms(last)}`);
  }
  await measure("list 1,000 folders", "large?restype=container&comp=list&delimiter=/");
}

async function measureSearches(): Promise<void> {
  const inAccount = (where: string) => `?comp=blobs&where=${encodeURIComponent(where)}`;
  const inContainer = (where: string) =>
    `large?restype=container&comp=blobs&where=${encodeURIComponent(where)}`;
  await measure("find 100 in the account", inAccount("rare = 'yes'"));
  await measure("find 100 in the container", inContainer("rare = 'yes'"));
  await measure("find by two tags", inAccount("rare = 'yes' AND bucket = '0'"));
  await measure("find by a range", inContainer("rare > 'a' AND rare < 'z'"));
  await measure("find nothing", inAccount("rare = 'no'"));
  await measure("first 5,000 of many", inAccount("bucket = '3'"));
}

async function measure(what: string, path: string): Promise<void> {
  const times: number[] = [];
  let found = 0;
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const answer = await send("GET", path);
    times.push(performance.now() - began);
    found = answer.match(/<(?:Blob|BlobPrefix)>/g)?.length ?? 0;
  }
  report(what, `${found} found, ${ms(median(times))}`);
}

async function send(method: string, path: string): Promise<string> {
  const answer = await client.send({ method, path, expect: 200, orElse: 201 });
  return answer.body.toString();
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function ms(value: number | undefined): string {
  return `${(value ?? 0).toFixed(2)} ms`;
}

function perSecond(count: number, seconds: number): string {
  return `${Math.round(count / seconds)}/s`;
}

function report(what: string, figures: string): void {
  console.log(`${what.padEnd(28)} ${figures}`);
}
