import { randomBytes } from "node:crypto";
import { fill, once } from "../target.ts";
import type { Client, Request, Target } from "../target.ts";
import { anyObject } from "./scenario.ts";
import type { Scenario, Site, Step } from "./scenario.ts";

const kibibyte = randomBytes(1024).toString("latin1");
const mebibyte = randomBytes(1024 * 1024);
const eightMebibytes = randomBytes(8 * 1024 * 1024);
const blockBlob = "x-ms-blob-type: BlockBlob\r\n";
const largeBlobs = 4;
const listed = 5000;
const rangeBytes = 64 * 1024;
/** Writes per ten mixed requests. */
const writesOfTen = 2;

export async function createContainer(target: Target, { name }: Site): Promise<void> {
  const path = `${name}?restype=container`;
  await once(target, "blob", { method: "PUT", path, expect: 201 });
}

export async function fillBlobs(target: Target, site: Site): Promise<void> {
  await createContainer(target, site);
  await fill({ target, service: "blob", count: site.stored }, (client, index) =>
    client.send(putBlob(`${site.name}/o${index}`)),
  );
}

export function putBlob(path: string, body: Buffer | string = kibibyte): Request {
  return { method: "PUT", path, headers: blockBlob, body, expect: 201 };
}

async function get(client: Client, path: string, bytes: number): Promise<void> {
  const answer = await client.send({ method: "GET", path, expect: 200 });
  if (answer.bodyBytes !== bytes) throw new Error(`short body: ${answer.bodyBytes}`);
}

/** Few names for large bodies, so that a run does not fill the disk. */
async function fillLarge(target: Target, site: Site): Promise<void> {
  await createContainer(target, site);
  await fill({ target, service: "blob", count: site.stored }, (client, index) =>
    client.send(putBlob(`${site.name}/o${index}`, eightMebibytes)),
  );
}

async function fillFolders(target: Target, site: Site): Promise<void> {
  await createContainer(target, site);
  await fill({ target, service: "blob", count: site.stored }, (client, index) =>
    client.send(putBlob(`${site.name}/dir${index % 50}/o${index}`)),
  );
}

function putting({ name }: Site, body: Buffer | string, namesMax = Infinity): Step {
  let next = 0;
  const unique = `n${process.pid}`;
  return async ({ client }) => {
    await client.send(putBlob(`${name}/${unique}-${next++ % namesMax}`, body));
  };
}

function getting(site: Site, bytes: number): Step {
  let next = 0;
  return ({ client }) => get(client, `${site.name}/o${anyObject(site, next++)}`, bytes);
}

function listing({ name }: Site): Step {
  const path = `${name}?restype=container&comp=list&maxresults=${listed}`;
  return async ({ client }) => {
    const { bodyBytes } = await client.send({ method: "GET", path, expect: 200 });
    if (bodyBytes < listed * 100) throw new Error(`short list: ${bodyBytes} bytes`);
  };
}

function readingRanges(site: Site): Step {
  let next = 0;
  const ranges = eightMebibytes.length / rangeBytes;
  return async ({ client }) => {
    const turn = next++;
    const path = `${site.name}/o${turn % site.stored}`;
    const from = ((turn * 37) % ranges) * rangeBytes;
    const headers = `x-ms-range: bytes=${from}-${from + rangeBytes - 1}\r\n`;
    const { bodyBytes } = await client.send({ method: "GET", path, headers, expect: 206 });
    if (bodyBytes !== rangeBytes) throw new Error(`short range: ${bodyBytes}`);
  };
}

function mixing(site: Site): Step {
  let next = 0;
  return async ({ client }) => {
    const turn = next++;
    const path = `${site.name}/o${anyObject(site, turn)}`;
    if (turn % 10 < writesOfTen) await client.send(putBlob(path));
    else await get(client, path, kibibyte.length);
  };
}

const blob = { service: "blob", azurite: true } as const;
const small = { ...blob, stored: 1000, fill: fillBlobs };
const large = { ...blob, stored: largeBlobs, fill: fillLarge };

const put1k = {
  ...small,
  name: "put-1k",
  title: "put 1 KiB",
  plain: "empty",
  start: async (_: Target, site: Site) => ({ step: putting(site, kibibyte) }),
} as const satisfies Scenario;

const get1k = {
  ...small,
  name: "get-1k",
  title: "get 1 KiB",
  plain: "content",
  start: async (_: Target, site: Site) => ({ step: getting(site, kibibyte.length) }),
} as const satisfies Scenario;

export const blobScenarios: readonly Scenario[] = [
  put1k,
  get1k,
  {
    ...small,
    name: "put-1m",
    title: "put 1 MiB",
    stored: 0,
    plain: "stream",
    mebibytes: 1,
    start: async (_, site) => ({ step: putting(site, mebibyte, 64) }),
  },
  {
    ...large,
    name: "get-8m",
    title: "get 8 MiB",
    plain: "pread",
    mebibytes: 8,
    start: async (_, site) => ({ step: getting(site, eightMebibytes.length) }),
  },
  {
    ...large,
    name: "get-range",
    title: "get 64 KiB out of 8 MiB",
    mebibytes: rangeBytes / (1024 * 1024),
    start: async (_, site) => ({ step: readingRanges(site) }),
  },
  {
    ...blob,
    name: "list-5000",
    title: "list 5,000",
    stored: listed,
    fill: fillFolders,
    start: async (_, site) => ({ step: listing(site) }),
  },
  {
    ...small,
    name: "mixed",
    title: "eight gets, two puts of 1 KiB",
    start: async (_, site) => ({ step: mixing(site) }),
  },
];

export const secureScenarios: readonly Scenario[] = [
  { ...put1k, name: "tls-put-1k", title: "put 1 KiB over TLS", secure: true },
  { ...get1k, name: "tls-get-1k", title: "get 1 KiB over TLS", secure: true },
];
