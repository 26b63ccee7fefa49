import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { azuriteFixture, type AzuriteFixture } from "./azurite-fixture.ts";
import { describeData } from "./describe-data.ts";
import { editDatabase } from "./edit-database.ts";
import { importInto, problemsOf } from "./import-into.ts";

const hourMilliseconds = 3_600_000;
/** Azurite wrote the folder on March 1st and hid one message for a week. */
const marchSeventh = Date.UTC(2025, 2, 7);

let fixture: AzuriteFixture;
let location = "";
beforeAll(async () => {
  fixture = await azuriteFixture();
  location = await mkdtemp(join(tmpdir(), "etagere-import-"));
  editDatabase(fixture.folder, "queue", (fields) => {
    const { timeNextVisible, ...message } = fields;
    if (timeNextVisible === undefined) return [fields];
    const isHidden = Number(timeNextVisible) > marchSeventh;
    const visible = isHidden ? Date.now() + hourMilliseconds : timeNextVisible;
    const expired = { ...fields, expirationTime: "2025-03-02T00:00:00.000Z" };
    return [{ ...message, timeNextVisible: visible }, ...(isHidden ? [expired] : [])];
  });
});
afterAll(async () => {
  fixture.remove();
  await rm(location, { recursive: true, force: true });
});

describe("a folder written by Azurite", () => {
  it("is imported with everything that clients could see", async () => {
    const counts = await importInto(location, fixture.folder);
    expect(counts).toEqual({
      containers: 3,
      blobs: 9,
      snapshots: 3,
      uncommittedBlocks: 3,
      queues: 2,
      messages: 3,
      tables: 2,
      entities: 151,
      skipped: 1,
    });
    await using server = await start({ port: 0, location });
    expect(await describeData(server.connectionString)).toEqual(fixture.expected);
  });

  it("is imported with valid records and content", async () => {
    expect(await problemsOf(location)).toEqual([]);
  });

  it("is imported as a whole or, if a name exists, not at all", async () => {
    editDatabase(fixture.folder, "blob", (fields) =>
      fields["name"] === "empty" ? [fields, { ...fields, name: "another" }] : [fields],
    );
    await expect(importInto(location, fixture.folder)).rejects.toThrow(
      /container devstoreaccount1\/box exists or is being deleted/,
    );
    await using server = await start({ port: 0, location });
    expect(await describeData(server.connectionString)).toEqual(fixture.expected);
  });

  it("is usable as before: leases, uncommitted blocks and in-flight messages", async () => {
    await using server = await start({ port: 0, location });
    const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
    const box = blobs.getContainerClient("box");
    await expect(box.getBlobClient("leased").delete()).rejects.toMatchObject({ statusCode: 412 });
    const lease = box
      .getBlobClient("leased")
      .getBlobLeaseClient(`${"1".repeat(8)}-1111-4111-8111-${"1".repeat(12)}`);
    await lease.releaseLease();
    await box.getBlobClient("leased").delete();
    const staged = box.getBlockBlobClient("staged only");
    await staged.commitBlockList([Buffer.from("000000").toString("base64")]);
    expect(await staged.downloadToBuffer()).toHaveLength(77);
    await box.getAppendBlobClient("append").appendBlock("x", 1);
    await box.getPageBlobClient("pages").clearPages(0, 512);
    const queue = QueueServiceClient.fromConnectionString(server.connectionString);
    const work = queue.getQueueClient("work");
    const { receivedMessageItems } = await work.receiveMessages({ numberOfMessages: 32 });
    expect(
      receivedMessageItems.map(({ messageText, dequeueCount }) => [messageText, dequeueCount]),
    ).toEqual([
      ["taken <twice> & back ünï", 3],
      ["second", 1],
    ]);
    for (const { messageId, popReceipt } of receivedMessageItems) {
      await work.deleteMessage(messageId, popReceipt);
    }
    expect((await work.getProperties()).approximateMessagesCount).toBe(1);
  });

  it("is valid after use", async () => {
    expect(await problemsOf(location)).toEqual([]);
  });
});
