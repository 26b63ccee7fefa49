// `npm run bench -- --encryption [--sockets] [ROUNDS]`: CPU time per request that encryption at
// rest costs, on a data folder: in process, or of two server processes with their sockets.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import {
  compareAlternating,
  comparedInProcess,
  comparedServer,
  type Compared,
  type Operation,
} from "./alternating.ts";
import { openInProcess } from "./in-process.ts";
import { newFolder, startEtagere } from "./servers.ts";
import type { Client } from "./target.ts";

const words = process.argv.slice(2);
const hasSockets = words.includes("--sockets");
const rounds = Number(words.find((word) => /^\d+$/.test(word)) ?? 24);
const kibibyte = 1024;
const blobType = "x-ms-blob-type: BlockBlob\r\n";
/** Length of a content, requests per round, and number of blobs. */
const lengths = [
  [kibibyte, 2000, 100],
  [30_000, 500, 100],
  [1_000_000, 60, 30],
] as const;
/** The same, for gets alone: many blobs that fit into the memory for decrypted bytes, and more than
 *  that. */
const manyBlobs = [
  [kibibyte, 2000, 20_000],
  [kibibyte, 2000, 200_000],
  [1_000_000, 60, 500],
] as const;

process.env["ETAGERE_BENCH_KEY"] = randomBytes(32).toString("hex");
const encrypted = "env:ETAGERE_BENCH_KEY";

const put = (client: Client, path: string, body: Buffer) =>
  client.send({ method: "PUT", path, headers: blobType, body, expect: 201 });
const get = (client: Client, path: string) => client.send({ method: "GET", path, expect: 200 });
const operations: readonly Operation[] = lengths.flatMap(([length, requestsPerRound, blobs]) => {
  const body = randomBytes(length);
  return [
    {
      name: `put of ${length} bytes`,
      requestsPerRound,
      run: (client: Client, index: number) => put(client, `cost/${length}-${index % blobs}`, body),
    },
    {
      name: `get of ${length} bytes`,
      requestsPerRound,
      run: (client: Client, index: number) => get(client, `cost/${length}-${index % blobs}`),
    },
  ];
});
/** Steps between blobs that are read one after the other, so that they differ. */
const stride = 7;

function readMany([length, requestsPerRound, blobs]: (typeof manyBlobs)[number]) {
  const body = randomBytes(length);
  const pathOf = (index: number): string => `cost/${blobs}-of-${length}-${index % blobs}`;
  const fill: Operation = {
    name: `first put of ${length} bytes`,
    requestsPerRound: blobs,
    run: (client, index) => put(client, pathOf(index), body),
  };
  let next = 0;
  const read: Operation = {
    name: `get of ${length} bytes, of ${blobs} blobs`,
    requestsPerRound,
    run: (client) => get(client, pathOf((next += stride))),
  };
  return { fill, read };
}

async function start(index: number): Promise<readonly [Compared, () => Promise<void>]> {
  const name = ["plain", "encrypted"][index] ?? "";
  const location = newFolder(name);
  const encryption = index === 0 ? undefined : encrypted;
  const remove = (): void => rmSync(location, { recursive: true, force: true });
  if (hasSockets) {
    const more = encryption === undefined ? [] : [`--encryption=${encryption}`];
    const program = "dist/cli/main.js";
    const server = await startEtagere({ program, location, workers: 1, more });
    return [await comparedServer(name, server), () => server.stop().then(remove)];
  }
  const server = await openInProcess(location, { encryption });
  return [comparedInProcess(name, server.connect("blob")), () => server.stop().then(remove)];
}

const started = await Promise.all([start(0), start(1)]);
const compared = started.map(([server]) => server);
for (const { clients } of compared) {
  await clients[0]!.send({ method: "PUT", path: "cost?restype=container", expect: 201 });
}
await compareAlternating(compared, operations, rounds);
for (const { fill, read } of manyBlobs.map(readMany)) {
  await compareAlternating(compared, [fill], 0);
  await compareAlternating(compared, [read], rounds);
}
for (const { clients } of compared) for (const client of clients) client.close();
for (const [, stop] of started) await stop();
