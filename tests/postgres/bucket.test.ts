import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { pattern } from "../harness/content-fixture.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { openDatabase, type Database } from "./database.ts";

/** Nodes as in production: records in a database, content in a bucket, nothing local. */
const folder = temporaryFolder();
const lengths = [100, 16_000, 70_000, 5_000_000];
const body = (length: number): Buffer => Buffer.from(pattern(length, length));
let database: Database;
let bucket: FakeS3;
let nodes: { readonly server: EtagereServer; readonly blob: RawClient }[];

beforeAll(async () => {
  [database, bucket] = await Promise.all([openDatabase(), openFakeS3()]);
  vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  const places = { store: database.newUrl(), content: bucket.location };
  nodes = await Promise.all(
    ["one", "two", "three"].map(async (name) => {
      const location = join(folder, name);
      const server = await start({ port: 0, noSmb: true, location, ...places });
      return { server, blob: rawClient(server.urls.blob ?? "") };
    }),
  );
});

afterAll(async () => {
  await Promise.all(nodes.map(({ server }) => server.stop()));
  await Promise.all([database.stop(), bucket.close()]);
  vi.unstubAllEnvs();
});

const send = (node: number, method: string, path: string, bytes?: Uint8Array) => {
  const headers = { "x-ms-blob-type": "BlockBlob" };
  const given = bytes === undefined ? {} : { body: bytes };
  return nodes[node]!.blob.send({ method, path: `/ccc${path}`, headers, ...given });
};

it("read another node's writes at once, and overwrite and delete them", async () => {
  await send(0, "PUT", "?restype=container");
  for (const [index, length] of lengths.entries()) {
    const [writer, reader, other] = [index % 3, (index + 1) % 3, (index + 2) % 3] as const;
    expect((await send(writer, "PUT", `/b${length}`, body(length))).status).toBe(201);
    for (const node of [reader, other]) {
      const { status, body: found } = await send(node, "GET", `/b${length}`);
      expect([status, Buffer.compare(found, body(length))]).toEqual([200, 0]);
    }
    expect((await send(reader, "PUT", `/b${length}`, body(length + 1))).status).toBe(201);
    const { body: overwritten } = await send(writer, "GET", `/b${length}`);
    expect(Buffer.compare(overwritten, body(length + 1))).toBe(0);
  }
  expect((await send(1, "DELETE", `/b${lengths[3]}`)).status).toBe(202);
  expect((await send(2, "GET", `/b${lengths[3]}`)).status).toBe(404);
});

it("continue when one of them stops, and read what it wrote", async () => {
  expect((await send(2, "PUT", "/left", body(90_000))).status).toBe(201);
  await nodes.pop()!.server.stop();
  for (const node of [0, 1]) {
    const { body: found } = await send(node, "GET", "/left");
    expect(Buffer.compare(found, body(90_000))).toBe(0);
    expect((await send(node, "PUT", `/on${node}`, body(80_000))).status).toBe(201);
  }
});
