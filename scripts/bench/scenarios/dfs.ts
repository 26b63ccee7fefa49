import { randomBytes } from "node:crypto";
import { once } from "../target.ts";
import type { Client, Target } from "../target.ts";
import { putBlob } from "./blobs.ts";
import type { Scenario, Site, Step } from "./scenario.ts";

const kibibyte = randomBytes(1024).toString("latin1");
const mebibyte = randomBytes(1024 * 1024);
/** Few names for large bodies, so that a run does not fill the disk. */
const largeFiles = 64;
const listed = 1000;

async function createFilesystem(target: Target, { name }: Site): Promise<void> {
  const path = `${name}?resource=filesystem`;
  await once(target, "blob", { method: "PUT", path, expect: 201 });
}

function createFile(client: Client, path: string): Promise<unknown> {
  return client.send({ method: "PUT", path: `${path}?resource=file`, expect: 201 });
}

function append(client: Client, path: string, body: Buffer | string, more = ""): Promise<unknown> {
  const at = `${path}?action=append&position=0${more}`;
  return client.send({ method: "PATCH", path: at, body, expect: 202 });
}

function flush(client: Client, path: string, length: number): Promise<unknown> {
  const at = `${path}?action=flush&position=${length}&close=true`;
  return client.send({ method: "PATCH", path: at, expect: 200 });
}

interface Uploading {
  readonly body: Buffer | string;
  /** Whether each worker writes one file of its own again and again, so that a run does not fill
   *  the disk. */
  readonly isAgain?: boolean;
  /** Whether the append flushes what it appends, which is one request less. */
  readonly flushesAtOnce?: boolean;
}

/** What client libraries do for an upload: three requests for each file. */
function uploading({ name }: Site, { body, isAgain, flushesAtOnce }: Uploading): Step {
  let next = 0;
  const unique = `n${process.pid}`;
  return async ({ client, index }) => {
    const number = isAgain === true ? index : next++;
    const path = `${name}/dir${number % 16}/${unique}-${number}`;
    await createFile(client, path);
    await append(client, path, body, flushesAtOnce === true ? "&flush=true" : "");
    if (flushesAtOnce !== true) await flush(client, path, body.length);
  };
}

/** Each worker renames a directory of its own, again and again. */
function renaming({ name }: Site): Step {
  const names = new Map<number, string>();
  return async ({ client, index }) => {
    let from = names.get(index);
    if (from === undefined) {
      from = `${name}/w${process.pid}-${index}`;
      for (let at = 0; at < 4; at += 1) await client.send(putBlob(`${from}/sub/o${at}`));
    }
    const to = from.endsWith("x") ? from.slice(0, -1) : `${from}x`;
    const headers = `x-ms-rename-source: /${from}\r\n`;
    await client.send({ method: "PUT", path: `${to}?mode=legacy`, headers, expect: 201 });
    names.set(index, to);
  };
}

function listing({ name }: Site): Step {
  const path = `${name}?resource=filesystem&recursive=true&maxResults=5000`;
  return async ({ client }) => {
    const { bodyBytes } = await client.send({ method: "GET", path, expect: 200 });
    if (bodyBytes < listed * 100) throw new Error(`short list: ${bodyBytes} bytes`);
  };
}

async function fillDirectories(target: Target, site: Site): Promise<void> {
  await createFilesystem(target, site);
  const client = target.connect("blob");
  for (let index = 0; index < site.stored; index += 1) {
    await client.send(putBlob(`${site.name}/dir${index % 10}/o${index}`));
  }
  client.close();
}

const dfs = {
  service: "blob",
  azurite: false,
  hierarchical: true,
  stored: 0,
  fill: createFilesystem,
} as const;

export const dfsScenarios: readonly Scenario[] = [
  {
    ...dfs,
    name: "dfs-write-1k",
    title: "create, append and flush a file of 1 KiB",
    start: async (_, site) => ({ step: uploading(site, { body: kibibyte }) }),
  },
  {
    ...dfs,
    name: "dfs-flush-1k",
    title: "create a file, append and flush 1 KiB in one request",
    start: async (_, site) => ({ step: uploading(site, { body: kibibyte, flushesAtOnce: true }) }),
  },
  {
    ...dfs,
    name: "dfs-write-1m",
    title: "create, append and flush a file of 1 MiB",
    mebibytes: 1,
    start: async (_, site) => ({ step: uploading(site, { body: mebibyte, isAgain: true }) }),
  },
  {
    ...dfs,
    name: "dfs-put-1m",
    title: "put a blob of 1 MiB into a directory",
    mebibytes: 1,
    start: async (_, site) => ({ step: putting(site) }),
  },
  {
    ...dfs,
    name: "dfs-rename",
    title: "rename a directory",
    start: async (_, site) => ({ step: renaming(site) }),
  },
  {
    ...dfs,
    name: "dfs-list-1000",
    title: "list 1,000 paths",
    stored: listed,
    fill: fillDirectories,
    start: async (_, site) => ({ step: listing(site) }),
  },
];

function putting({ name }: Site): Step {
  let next = 0;
  const unique = `n${process.pid}`;
  return async ({ client }) => {
    const number = next++ % largeFiles;
    await client.send(putBlob(`${name}/dir${number % 16}/${unique}-${number}`, mebibyte));
  };
}
