import { randomBytes } from "node:crypto";
import { fill, once } from "../target.ts";
import type { Client, Target } from "../target.ts";
import { ownNumber, sharedObjects, spread } from "./scenario.ts";
import type { Scenario, Site, Step } from "./scenario.ts";

const smallBytes = 4 * 1024;
const largeBytes = 4 * 1024 * 1024;
const small = randomBytes(smallBytes).toString("latin1");
const large = randomBytes(largeBytes);
const listed = 5000;
const fresh =
  "x-ms-type: file\r\nx-ms-file-permission: inherit\r\nx-ms-file-attributes: None\r\n" +
  "x-ms-file-creation-time: now\r\nx-ms-file-last-write-time: now\r\n";

async function createShare(target: Target, { name }: Site): Promise<void> {
  const path = `${name}?restype=share`;
  await once(target, "file", { method: "PUT", path, expect: 201 });
}

function create(client: Client, path: string, bytes: number): Promise<unknown> {
  const headers = `${fresh}x-ms-content-length: ${bytes}\r\n`;
  return client.send({ method: "PUT", path, headers, expect: 201 });
}

/** Files of full length without written ranges. */
function filling(bytes: number) {
  return async (target: Target, site: Site): Promise<void> => {
    await createShare(target, site);
    await fill({ target, service: "file", count: site.stored }, (client, index) =>
      create(client, `${site.name}/o${index}`, bytes),
    );
  };
}

function putRange(client: Client, path: string, body: Buffer | string): Promise<unknown> {
  const headers = `x-ms-write: update\r\nx-ms-range: bytes=0-${body.length - 1}\r\n`;
  return client.send({ method: "PUT", path: `${path}?comp=range`, headers, body, expect: 201 });
}

function creating({ name }: Site): Step {
  let next = 0;
  const unique = `n${process.pid}`;
  return async ({ client }) =>
    void (await create(client, `${name}/${unique}-${next++}`, smallBytes));
}

function writing(site: Site, body: Buffer | string): Step {
  let next = 0;
  return async (worker) => {
    const path = `${site.name}/o${spread(site, ownNumber(site, worker, next++))}`;
    await putRange(worker.client, path, body);
  };
}

/** Writes the files that the operation reads. */
async function reading(target: Target, site: Site, body: Buffer | string) {
  const count = Math.min(sharedObjects, site.stored);
  const pathOf = (number: number): string => `${site.name}/o${spread(site, number)}`;
  await fill({ target, service: "file", count }, (client, index) =>
    putRange(client, pathOf(index), body),
  );
  let next = 0;
  const step: Step = async ({ client }) => {
    const path = pathOf((next++ * 7919) % count);
    const { bodyBytes } = await client.send({ method: "GET", path, expect: 200 });
    if (bodyBytes !== body.length) throw new Error(`short body: ${bodyBytes}`);
  };
  return { step };
}

function listing({ name }: Site): Step {
  const path = `${name}?restype=directory&comp=list&maxresults=${listed}`;
  return async ({ client }) => {
    const { bodyBytes } = await client.send({ method: "GET", path, expect: 200 });
    if (bodyBytes < listed * 50) throw new Error(`short list: ${bodyBytes} bytes`);
  };
}

const file = { service: "file", azurite: false, stored: sharedObjects } as const;
const smallFiles = { ...file, fill: filling(smallBytes) };
/** Few, so that a run does not fill the disk, but at least one per worker. */
const largeFiles = { ...file, stored: 64, fill: filling(largeBytes), mebibytes: 4 };

export const fileScenarios: readonly Scenario[] = [
  {
    ...smallFiles,
    name: "file-create",
    title: "create a file",
    start: async (_, site) => ({ step: creating(site) }),
  },
  {
    ...smallFiles,
    name: "file-put-4k",
    title: "put a range of 4 KiB",
    start: async (_, site) => ({ step: writing(site, small) }),
  },
  {
    ...smallFiles,
    name: "file-get-4k",
    title: "get a file of 4 KiB",
    start: (target, site) => reading(target, site, small),
  },
  {
    ...largeFiles,
    name: "file-put-4m",
    title: "put a range of 4 MiB",
    start: async (_, site) => ({ step: writing(site, large) }),
  },
  {
    ...largeFiles,
    name: "file-get-4m",
    title: "get a file of 4 MiB",
    start: (target, site) => reading(target, site, large),
  },
  {
    ...smallFiles,
    name: "file-list-5000",
    title: "list 5,000 files",
    stored: listed,
    start: async (_, site) => ({ step: listing(site) }),
  },
];
