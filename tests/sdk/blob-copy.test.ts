import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { accountSas } from "../harness/raw-client.ts";
import { freshName, testServer } from "../harness/server.ts";

const otherKey = Buffer.alloc(64, 7).toString("base64");
const held = testServer({
  accounts: { devstoreaccount1: {}, other: { keys: [otherKey] } },
  allowedSources: "127.0.0.0/8",
});
const loopback = "127.0.0.0/8,::1";
const strict = testServer({ allowedSources: loopback, forbiddenSources: loopback });
let service: BlobServiceClient;
let container: ContainerClient;

/** Another server on this machine: `/slow` sends its last byte on request only. */
let elsewhere: Server;
let elsewhereUrl = "";
let letGo: (() => void)[] = [];
const bytes = Buffer.alloc(300_000, "elsewhere ");

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === "/missing") {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    "content-length": bytes.length,
    "content-type": "text/plain",
    etag: '"1"',
    "x-ms-meta-Origin": "elsewhere",
  });
  if (request.method === "HEAD") response.end();
  else if (request.url === "/slow") {
    response.write(bytes.subarray(0, -1));
    letGo.push(() => response.end(bytes.subarray(-1)));
  } else response.end(bytes);
}

beforeAll(async () => {
  service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  elsewhere = createServer(answer);
  await new Promise<void>((listening) => elsewhere.listen(0, "127.0.0.1", listening));
  elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
});
afterAll(() => {
  elsewhere.closeAllConnections();
  elsewhere.close();
});
beforeEach(async () => {
  letGo = [];
  container = service.getContainerClient(freshName("copy"));
  await container.create();
});

describe("inside the server", () => {
  it("copies all three blob types at once, with their properties", async () => {
    const source = container.getBlockBlobClient("source");
    await source.upload("text", 4, {
      metadata: { Colour: "blue" },
      blobHTTPHeaders: { blobContentType: "text/plain" },
    });
    const target = container.getBlockBlobClient("target");
    const copied = await target.syncCopyFromURL(`${source.url}?${accountSas()}`);
    expect(copied.copyStatus).toBe("success");
    const poller = await container.getBlobClient("again").beginCopyFromURL(source.url);
    expect(poller.getResult()?.copyStatus).toBe("success");
    for (const name of ["target", "again"]) {
      const found = await container.getBlobClient(name).getProperties();
      expect(found).toMatchObject({
        contentType: "text/plain",
        metadata: { colour: "blue" },
        copyProgress: "4/4",
        copyStatus: "success",
      });
    }
    const disk = container.getPageBlobClient("disk");
    await disk.create(1024 * 1024);
    await disk.uploadPages(Buffer.alloc(512, 1), 512, 512);
    await container.getBlobClient("disk2").beginCopyFromURL(disk.url);
    const ranges = await container.getPageBlobClient("disk2").getPageRanges(0, 1024 * 1024);
    expect(ranges.pageRange).toEqual([{ offset: 512, count: 511 }]);
  });

  it("checks the conditions of source and target", async () => {
    const source = container.getBlockBlobClient("source");
    const { etag = "" } = await source.upload("a", 1);
    await source.upload("b", 1);
    const stale = container
      .getBlobClient("t")
      .beginCopyFromURL(source.url, { sourceConditions: { ifMatch: etag } });
    await expect(stale).rejects.toMatchObject({ code: "SourceConditionNotMet" });
    expect(await container.getBlobClient("t").exists()).toBe(false);
  });

  it("composes a blob from ranges of another", async () => {
    const source = container.getBlockBlobClient("source");
    await source.upload("0123456789", 10);
    const url = `${source.url}?${accountSas()}`;
    const target = container.getBlockBlobClient("target");
    const ids = ["MQ==", "Mg=="];
    await target.stageBlockFromURL(ids[0] ?? "", url, 5, 5);
    await target.stageBlockFromURL(ids[1] ?? "", url, 0, 5);
    await target.commitBlockList(ids);
    expect((await target.downloadToBuffer()).toString()).toBe("5678901234");
    const log = container.getAppendBlobClient("log");
    await log.create();
    await log.appendBlockFromURL(url, 2, 3);
    expect((await log.downloadToBuffer()).toString()).toBe("234");
  });

  it("requires a SAS for a source in another account", async () => {
    const source = container.getBlockBlobClient("source");
    await source.upload("shared", 6);
    const endpoint = `${held.server.urls.blob}/other`;
    const other = BlobServiceClient.fromConnectionString(
      `DefaultEndpointsProtocol=http;AccountName=other;AccountKey=${otherKey};BlobEndpoint=${endpoint};`,
    );
    const own = other.getContainerClient(freshName("theirs"));
    await own.create();
    const target = own.getBlockBlobClient("target");
    await expect(target.beginCopyFromURL(source.url)).rejects.toMatchObject({
      code: "CannotVerifyCopySource",
    });
    const poller = await target.beginCopyFromURL(`${source.url}?${accountSas()}`);
    expect(poller.getResult()?.copyStatus).toBe("success");
    expect((await target.downloadToBuffer()).toString()).toBe("shared");
    expect((await target.getProperties()).copySource).not.toContain("sig=");
  });

  it("does not read what the caller may not read", async () => {
    const source = container.getBlockBlobClient("source");
    await source.upload("secret", 6);
    const target = container.getBlockBlobClient("target");
    await expect(target.syncCopyFromURL(source.url)).rejects.toMatchObject({
      statusCode: 401,
      code: "CannotVerifyCopySource",
    });
  });
});

describe("from another server", () => {
  it("continues after the response, reports progress, and completes", async () => {
    const target = container.getBlockBlobClient("target");
    const poller = await target.beginCopyFromURL(`${elsewhereUrl}/slow`, { intervalInMs: 20 });
    expect((await target.getProperties()).copyStatus).toBe("pending");
    const write = target.upload("x", 1);
    await expect(write).rejects.toMatchObject({ code: "PendingCopyOperation" });
    const lease = target.getBlobLeaseClient().acquireLease(-1);
    await expect(lease).rejects.toMatchObject({ code: "PendingCopyOperation" });
    await expect.poll(() => letGo.length).toBeGreaterThan(0);
    for (const go of letGo) go();
    await poller.pollUntilDone();
    expect((await target.downloadToBuffer()).equals(bytes)).toBe(true);
    const found = await target.getProperties();
    expect(found).toMatchObject({ contentType: "text/plain", metadata: { origin: "elsewhere" } });
  });

  it("is aborted and leaves an empty blob that can be written", async () => {
    const target = container.getBlockBlobClient("target");
    await target.beginCopyFromURL(`${elsewhereUrl}/slow`);
    const { copyId = "" } = await target.getProperties();
    const wrong = target.abortCopyFromURL("00000000-0000-0000-0000-000000000000");
    await expect(wrong).rejects.toMatchObject({ code: "CopyIdMismatch" });
    await target.abortCopyFromURL(copyId);
    for (const go of letGo) go();
    const found = await target.getProperties();
    expect([found.copyStatus, found.contentLength]).toEqual(["aborted", 0]);
    await expect(target.abortCopyFromURL(copyId)).rejects.toMatchObject({
      code: "NoPendingCopyOperation",
    });
    await target.upload("free", 4);
  });

  it("rejects a missing source", async () => {
    const target = container.getBlockBlobClient("target");
    const missing = target.syncUploadFromURL(`${elsewhereUrl}/missing`);
    await expect(missing).rejects.toMatchObject({
      statusCode: 404,
      code: "CannotVerifyCopySource",
    });
    await expect(target.beginCopyFromURL("http://127.0.0.1:1/x")).rejects.toMatchObject({
      statusCode: 400,
      code: "CannotVerifyCopySource",
    });
    expect(await target.exists()).toBe(false);
  });

  it("copies ranges and whole blobs synchronously", async () => {
    const target = container.getBlockBlobClient("target");
    await target.syncUploadFromURL(`${elsewhereUrl}/plain`);
    expect((await target.downloadToBuffer()).equals(bytes)).toBe(true);
  });

  it.each(["127.0.0.1", "localhost"])("contacts %s only where allowed", async (host) => {
    const url = new URL(elsewhereUrl);
    url.hostname = host;
    const { server } = strict;
    const careful = BlobServiceClient.fromConnectionString(server.connectionString);
    const own = careful.getContainerClient(freshName("strict"));
    await own.create();
    const target = own.getBlockBlobClient("target");
    const refused = { statusCode: 403, code: "CannotVerifyCopySource" };
    await expect(target.syncUploadFromURL(`${url.href}plain`)).rejects.toMatchObject(refused);
    await expect(target.beginCopyFromURL(`${url.href}plain`)).rejects.toMatchObject(refused);
    const inside = own.getBlockBlobClient("inside");
    await inside.upload("x", 1);
    await target.syncUploadFromURL(`${inside.url}?${accountSas()}`);
  });
});
