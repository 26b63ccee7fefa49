import { TableClient, TableTransaction } from "@azure/data-tables";
import { BlobServiceClient, RestError, type ContainerClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshName } from "../harness/server.ts";
import { adminServer, type AdminServer } from "./admin-server.ts";
import { EventStream } from "./event-stream.ts";

let admin: AdminServer;
let container: ContainerClient;
let feed: EventStream;
const once = { retryOptions: { maxTries: 1 } };

beforeAll(async () => {
  admin = await adminServer();
  const { connectionString } = admin.server;
  const service = BlobServiceClient.fromConnectionString(connectionString, once);
  container = service.getContainerClient(freshName("feed"));
  await container.create();
  feed = await EventStream.open(admin.url, "refused,lease,message,change,health");
});
afterAll(async () => {
  await feed.close();
  await admin[Symbol.asyncDispose]();
});

async function refusedBy(work: Promise<unknown>): Promise<number | undefined> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof RestError ? error.statusCode : undefined;
}

const newBlob = () => container.getBlockBlobClient(freshName("blob"));

describe("the event of a rejected request", () => {
  it("contains the requested and the current ETag", async () => {
    const blob = newBlob();
    const { etag } = await blob.upload("a", 1);
    const stale = blob.upload("b", 1, { conditions: { ifMatch: '"0x1"' } });
    expect(await refusedBy(stale)).toBe(412);
    expect(await feed.next("refused")).toMatchObject({
      service: "blob",
      operation: "Put Blob",
      method: "PUT",
      container: container.containerName,
      path: blob.name,
      status: 412,
      code: "ConditionNotMet",
      rule: "condition",
      condition: { header: "If-Match", expected: ['"0x1"'], actual: etag },
      caller: { kind: "key" },
    });
  });

  it("contains the date that a conditional header was compared with, also for 304", async () => {
    const blob = newBlob();
    const { lastModified } = await blob.upload("a", 1);
    const conditions = { ifModifiedSince: lastModified ?? new Date(0) };
    expect(await refusedBy(blob.download(0, 1, { conditions }))).toBe(304);
    expect(await feed.next("refused")).toMatchObject({
      status: 304,
      rule: "condition",
      condition: { header: "If-Modified-Since", actual: lastModified?.toUTCString() },
    });
  });

  it("contains the tags of the condition", async () => {
    const blob = newBlob();
    await blob.upload("a", 1, { tags: { colour: "red" } });
    const conditions = { tagConditions: "colour = 'blue'" };
    expect(await refusedBy(blob.setMetadata({}, { conditions }))).toBe(412);
    expect(await feed.next("refused")).toMatchObject({
      condition: { header: "x-ms-if-tags", expected: ["colour = 'blue'"] },
    });
  });

  it("contains the lease that blocked the request and its holder", async () => {
    const blob = newBlob();
    await blob.upload("a", 1);
    const { leaseId } = await blob.getBlobLeaseClient().acquireLease(60);
    expect(await feed.next("lease")).toMatchObject({
      action: "acquire",
      kind: "blob",
      id: leaseId,
      durationSeconds: 60,
      path: blob.name,
    });
    expect(await refusedBy(blob.upload("b", 1))).toBe(412);
    expect(await feed.next("refused")).toMatchObject({
      code: "LeaseIdMissing",
      rule: "lease",
      lease: { given: null, holder: leaseId, state: "leased" },
    });
    const other = "11111111-1111-1111-1111-111111111111";
    expect(await refusedBy(blob.getBlobLeaseClient(other).acquireLease(60))).toBe(409);
    expect(await feed.next("refused")).toMatchObject({
      code: "LeaseAlreadyPresent",
      rule: "decision",
      lease: { given: other, holder: leaseId },
    });
  });

  it("contains the index of the failed entity of a transaction", async () => {
    const { connectionString } = admin.server;
    const name = freshName("table");
    const options = { allowInsecureConnection: true };
    const table = TableClient.fromConnectionString(connectionString, name, options);
    await table.createTable();
    await table.createEntity({ partitionKey: "p", rowKey: "there" });
    const work = new TableTransaction();
    work.createEntity({ partitionKey: "p", rowKey: "new" });
    work.createEntity({ partitionKey: "p", rowKey: "there" });
    await expect(table.submitTransaction(work.actions)).rejects.toThrow();
    expect(await feed.next("refused")).toMatchObject({
      service: "table",
      operation: "Insert Entity",
      container: name,
      partitionKey: "p",
      rowKey: "there",
      status: 409,
      rule: "existence",
    });
  });
});

describe("timed events", () => {
  it("report an expired lease", async () => {
    const blob = newBlob();
    await blob.upload("a", 1);
    const { leaseId } = await blob.getBlobLeaseClient().acquireLease(15);
    expect(await feed.next("lease")).toMatchObject({ action: "acquire" });
    admin.clock.skip(16);
    expect(await feed.next("lease")).toMatchObject({
      action: "expired",
      id: leaseId,
      path: blob.name,
    });
  });

  it("report a message that becomes visible again", async () => {
    const { connectionString } = admin.server;
    const service = QueueServiceClient.fromConnectionString(connectionString);
    const queue = service.getQueueClient(freshName("queue"));
    await queue.create();
    const { messageId } = await queue.sendMessage("hello");
    await queue.receiveMessages({ visibilityTimeout: 30 });
    const path = `/admin/v1/messages?queue=${queue.name}`;
    const { messages } = await admin.json<{ messages: readonly object[] }>(path);
    expect(messages).toMatchObject([
      { id: messageId, state: "in-flight", dequeueCount: 1, preview: "hello" },
    ]);
    admin.clock.skip(31);
    const returned = { action: "returned", queue: queue.name, id: messageId, dequeueCount: 1 };
    expect(await feed.next("message")).toMatchObject(returned);
    expect(await admin.json(path)).toMatchObject({ messages: [] });
  });
});

it("the feed sends successful writes and health to subscribers of these kinds", async () => {
  const blob = newBlob();
  const { etag } = await blob.upload("a", 1);
  const change = { operation: "Put Blob", path: blob.name, etag, status: 201 };
  let event = await feed.next("change");
  while (event["path"] !== blob.name) event = await feed.next("change");
  expect(event).toMatchObject(change);
  const health = await feed.next("health");
  expect(health["requests"]).toMatchObject({ total: expect.any(Number) });
});

it("the timeline lists every object the feed has seen", async () => {
  const blob = newBlob();
  const first = await blob.upload("a", 1);
  const second = await blob.upload("bb", 2);
  await refusedBy(blob.upload("c", 1, { conditions: { ifMatch: first.etag ?? "" } }));
  const { snapshot } = await blob.createSnapshot();
  const where = `container=${container.containerName}&path=${blob.name}`;
  const path = `/admin/v1/timeline?service=blob&account=devstoreaccount1&${where}`;
  const timeline = await admin.json<{ etag: string; entries: readonly object[] }>(path);
  expect(timeline.etag).toBe(second.etag);
  const { entries } = timeline;
  expect(entries).toContainEqual(expect.objectContaining({ what: "snapshot", snapshot }));
  expect(entries).toContainEqual(
    expect.objectContaining({ what: "current", etag: second.etag, contentLength: 2 }),
  );
  for (const { etag } of [first, second]) {
    expect(entries).toContainEqual(expect.objectContaining({ what: "write", etag }));
  }
  const refused = entries.find((entry) => "what" in entry && entry.what === "refused");
  expect(refused).toMatchObject({ condition: { expected: [first.etag], actual: second.etag } });
});

describe("the feed of one object", () => {
  const about = (path: string): string =>
    `service=blob&account=devstoreaccount1&container=${container.containerName}&path=${path}`;

  it("reports who read which ETag, and only of this object", async () => {
    const blob = newBlob();
    const other = newBlob();
    const { etag } = await blob.upload("a", 1);
    await other.upload("b", 1);
    const stream = await EventStream.open(admin.url, `read,change&${about(blob.name)}`);
    await other.download();
    await other.upload("c", 1);
    await blob.download();
    const read = { operation: "Get Blob", path: blob.name, etag, status: 200 };
    const caller = { kind: "key", address: expect.any(String), agent: expect.any(String) };
    expect(await stream.next("read")).toMatchObject({ ...read, caller });
    await blob.upload("d", 1);
    expect(await stream.next("change")).toMatchObject({ path: blob.name });
    const timeline = async (path: string) =>
      (
        await admin.json<{ entries: readonly { what: string }[] }>(
          `/admin/v1/timeline?${about(path)}`,
        )
      ).entries;
    expect(await timeline(blob.name)).toContainEqual(
      expect.objectContaining({ what: "read", etag, caller: expect.objectContaining(caller) }),
    );
    expect((await timeline(other.name)).map(({ what }) => what)).not.toContain("read");
    await stream.close();
  });

  it("is required for reads, and must be complete", async () => {
    const open = (query: string): Promise<Response> => admin.get(`/admin/v1/feed?${query}`);
    const alone = await open("kinds=read");
    expect([alone.status, await alone.text()]).toEqual([
      400,
      expect.stringContaining("kind read needs an object"),
    ]);
    expect((await open("kinds=read&service=blob&account=devstoreaccount1")).status).toBe(400);
    expect((await open("kinds=read&service=blob&account=unknown&container=abc")).status).toBe(404);
  });
});

describe("a feed subscriber", () => {
  it("receives only the requested event kinds", async () => {
    const other = await EventStream.open(admin.url, "lease");
    const blob = newBlob();
    await blob.upload("a", 1);
    await blob.getBlobLeaseClient().acquireLease(60);
    expect(await other.next("lease")).toMatchObject({ path: blob.name });
    await other.close();
  });

  it("is rejected if it requests an unknown kind", async () => {
    expect((await admin.get("/admin/v1/feed?kinds=nonsense")).status).toBe(400);
  });

  it("is disconnected when the server stops", async () => {
    const own = await adminServer();
    const stream = await EventStream.open(own.url);
    await own[Symbol.asyncDispose]();
    expect(await stream.ended()).toBe("ended");
  });
});
