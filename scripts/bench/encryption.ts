// `npm run bench -- --encryption`: CPU time per request that encryption at rest costs, in process,
// on a data folder.
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { compareAlternating, type Operation } from "./alternating.ts";
import { openInProcess } from "./in-process.ts";
import { newFolder } from "./servers.ts";
import type { Client } from "./target.ts";

const rounds = 24;
const kibibyte = 1024;
const blobType = "x-ms-blob-type: BlockBlob\r\n";
/** Length of a content, and requests per round. */
const lengths = [
  [kibibyte, 1000],
  [30_000, 300],
  [1_000_000, 40],
] as const;

process.env["ETAGERE_BENCH_KEY"] = randomBytes(32).toString("hex");
const put = (client: Client, path: string, body: Buffer) =>
  client.send({ method: "PUT", path, headers: blobType, body, expect: 201 });
const operations: readonly Operation[] = lengths.flatMap(([length, requestsPerRound]) => {
  const body = randomBytes(length);
  return [
    {
      name: `put of ${length} bytes`,
      requestsPerRound,
      run: (client: Client, index: number) => put(client, `cost/${length}-${index % 100}`, body),
    },
    {
      name: `get of ${length} bytes`,
      requestsPerRound,
      run: (client: Client, index: number) =>
        client.send({ method: "GET", path: `cost/${length}-${index % 30}`, expect: 200 }),
    },
  ];
});

const folders = [newFolder("plain"), newFolder("encrypted")];
const keys = [undefined, "env:ETAGERE_BENCH_KEY"];
const servers = await Promise.all(
  folders.map((folder, index) => openInProcess(folder, { encryption: keys[index] })),
);
const compared = servers.map((server, index) => {
  return { name: ["plain", "encrypted"][index] ?? "", client: server.connect("blob") };
});
for (const { client } of compared) {
  await client.send({ method: "PUT", path: "cost?restype=container", expect: 201 });
}
await compareAlternating(compared, operations, rounds);
for (const server of servers) await server.stop();
for (const folder of folders) rmSync(folder, { recursive: true, force: true });
