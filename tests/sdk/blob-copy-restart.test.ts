import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterEach, beforeEach, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";

const bytes = Buffer.alloc(200_000, "survivor ");
let elsewhere: Server;
let url = "";
let location = "";
let hold = true;
const held: ServerResponse[] = [];

beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "etagere-copy-"));
  elsewhere = createServer((request, response) => {
    response.writeHead(200, { "content-length": bytes.length });
    if (request.method === "HEAD") response.end();
    else if (hold) held.push(response);
    else response.end(bytes);
    if (hold && request.method === "GET") response.write(bytes.subarray(0, 1000));
  });
  await new Promise<void>((listening) => elsewhere.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/big`;
});
afterEach(async () => {
  elsewhere.closeAllConnections();
  elsewhere.close();
  await rm(location, { recursive: true, force: true });
});

function open() {
  return start({ ...freePorts, noSmb: true, location, allowedSources: "127.0.0.0/8" });
}

function blobOf(connectionString: string) {
  const service = BlobServiceClient.fromConnectionString(connectionString);
  return service.getContainerClient("kept").getBlockBlobClient("b");
}

it("a copy that was interrupted by a stop resumes at the next start", async () => {
  const first = await open();
  const before = blobOf(first.connectionString);
  const service = BlobServiceClient.fromConnectionString(first.connectionString);
  await service.createContainer("kept");
  await before.beginCopyFromURL(url);
  await expect.poll(() => held.length).toBe(1);
  await first.stop();
  hold = false;
  const second = await open();
  const after = blobOf(second.connectionString);
  await expect.poll(async () => (await after.getProperties()).copyStatus).toBe("success");
  expect((await after.downloadToBuffer()).equals(bytes)).toBe(true);
  await second.stop();
});
