import { createWriteStream } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { BlobServiceClient } from "@azure/storage-blob";
import { describe, expect, it } from "vitest";
import { pattern } from "../harness/content-fixture.ts";
import { start, type StartOptions } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { inForm } from "../harness/long-form.ts";

const folder = temporaryFolder();
const common = { ...freePorts, noSmb: true } as const;

describe.each([
  ["in memory", { inMemoryPersistence: true }],
  ["on disk", { location: join(folder, "data") }],
] as const)("an export from a server %s that is being written to", (name, place: StartOptions) => {
  it("contains one state", async () => {
    await using server = await start({ ...common, ...place });
    const service = BlobServiceClient.fromConnectionString(server.connectionString);
    const container = service.getContainerClient("counters");
    await container.create();
    const body = (count: number): string => `${count} `.padEnd(20_000, "x");
    const put = (blob: string, count: number) =>
      container.getBlockBlobClient(blob).upload(body(count), 20_000);
    // Many blobs between the two counters, so that an export takes some time.
    for (let index = 0; index < 100; index += 1) await put(`m${index}`, index);
    const writers = new AbortController();
    const writing = (async () => {
      for (let count = 0; !writers.signal.aborted; count += 1) {
        await put("z-first", count);
        await put("a-second", count);
      }
    })();
    const files: string[] = [];
    for (let round = 0; round < inForm(2, 5); round += 1) {
      const file = join(folder, `${name}-${round}.etagere`);
      await server.export(file);
      files.push(file);
    }
    writers.abort();
    await writing;
    await using target = await start({ ...common, inMemoryPersistence: true });
    for (const file of files) {
      await target.load(file, { replace: true });
      const loaded = BlobServiceClient.fromConnectionString(target.connectionString);
      const read = async (blob: string): Promise<number> => {
        const client = loaded.getContainerClient("counters").getBlobClient(blob);
        const isThere = await client.exists();
        return isThere ? Number.parseInt((await client.downloadToBuffer()).toString()) : -1;
      };
      const [first, second] = [await read("z-first"), await read("a-second")];
      expect([0, 1]).toContain(first - second);
    }
  }, 60_000);
});

describe("an export whose client reads slowly", () => {
  it("contains what is deleted and reclaimed meanwhile", async () => {
    await using server = await start({ ...common, location: join(folder, "slow") });
    const service = BlobServiceClient.fromConnectionString(server.connectionString);
    const container = service.getContainerClient("files");
    await container.create();
    const bodies = Array.from({ length: 24 }, (_, index) => Buffer.from(pattern(1_500_000, index)));
    for (const [index, body] of bodies.entries()) {
      await container.getBlockBlobClient(`b${index}`).upload(body, body.length);
    }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { "x-etagere-admin": "1" };
      get(`${server.adminUrl}/admin/v1/archive`, { headers }, resolve).once("error", reject);
    });
    // Nothing is read here: the export waits for this client after a few MiB.
    await container.delete();
    for (let hour = 0; hour < 24; hour += 1) {
      server.clock.advance("1h");
      // Background work runs meanwhile.
      await container.exists();
    }
    const file = join(folder, "slow.etagere");
    await pipeline(response, createWriteStream(file));
    expect(response.trailers["x-etagere-report"]).toContain('"records":25');
    await using target = await start({ ...common, inMemoryPersistence: true });
    await target.load(file);
    const loaded = BlobServiceClient.fromConnectionString(target.connectionString);
    for (const [index, body] of bodies.entries()) {
      const blob = loaded.getContainerClient("files").getBlobClient(`b${index}`);
      expect(body.equals(await blob.downloadToBuffer())).toBe(true);
    }
  }, 60_000);
});
