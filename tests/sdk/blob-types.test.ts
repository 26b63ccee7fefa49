import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer();
let service: BlobServiceClient;
let container: ContainerClient;

beforeAll(() => {
  service = BlobServiceClient.fromConnectionString(held.server.connectionString);
});
beforeEach(async () => {
  container = service.getContainerClient(freshName("sdk"));
  await container.create();
});

describe("append blobs with the client library", () => {
  it("append under conditions and seal", async () => {
    const blob = container.getAppendBlobClient("log");
    await blob.create({ metadata: { kind: "log" } });
    const first = await blob.appendBlock("hello ", 6);
    expect([first.blobAppendOffset, first.blobCommittedBlockCount]).toEqual(["0", 1]);
    await blob.appendBlock("world", 5, { conditions: { appendPosition: 6 } });
    const tooLong = blob.appendBlock("!", 1, { conditions: { maxSize: 11 } });
    await expect(tooLong).rejects.toMatchObject({ code: "MaxBlobSizeConditionNotMet" });
    await blob.seal();
    await expect(blob.appendBlock("!", 1)).rejects.toMatchObject({ code: "BlobIsSealed" });
    const properties = await blob.getProperties();
    expect(properties).toMatchObject({ blobCommittedBlockCount: 2, isSealed: true });
    expect((await blob.downloadToBuffer()).toString()).toBe("hello world");
  });
});

describe("page blobs with the client library", () => {
  it("write, clear and resize sparsely, and return ranges and differences", async () => {
    const blob = container.getPageBlobClient("disk");
    await blob.create(1024 * 1024 * 1024);
    const page = Buffer.alloc(1024, 7);
    await blob.uploadPages(page, 512, 1024);
    await blob.uploadPages(page, 4096, 1024);
    const ranges = await blob.getPageRanges(0, 8192);
    // The library uses the offset of the last byte as the end, so its counts are one too small.
    expect(ranges.pageRange).toEqual([
      { offset: 512, count: 1023 },
      { offset: 4096, count: 1023 },
    ]);
    const { snapshot = "" } = await blob.createSnapshot();
    await blob.clearPages(4096, 512);
    await blob.uploadPages(page, 8192, 1024);
    const changes = await blob.getPageRangesDiff(0, 1024 * 1024, snapshot);
    expect(changes.pageRange).toEqual([{ offset: 8192, count: 1023 }]);
    expect(changes.clearRange).toEqual([{ offset: 4096, count: 511 }]);
    await blob.resize(4608);
    const bytes = await blob.downloadToBuffer();
    const expected = Buffer.alloc(4608);
    page.copy(expected, 512);
    expect(bytes.equals(expected)).toBe(true);
    const before = await blob.withSnapshot(snapshot).downloadToBuffer(4096, 1024);
    expect(before.equals(page)).toBe(true);
  });

  it("list ranges page by page", async () => {
    const blob = container.getPageBlobClient("disk");
    await blob.create(512 * 40);
    for (let index = 0; index < 20; index += 1) {
      await blob.uploadPages(Buffer.alloc(512, 1), index * 1024, 512);
    }
    const offsets: number[] = [];
    let pages = 0;
    for await (const page of blob.listPageRanges().byPage({ maxPageSize: 6 })) {
      pages += 1;
      for (const { start } of page.pageRange ?? []) offsets.push(start);
    }
    expect(offsets).toEqual(Array.from({ length: 20 }, (_, index) => index * 1024));
    expect(pages).toBe(4);
  });

  it("update sequence numbers", async () => {
    const blob = container.getPageBlobClient("disk");
    await blob.create(512, { blobSequenceNumber: 5 });
    const page = Buffer.alloc(512, 1);
    const late = blob.uploadPages(page, 0, 512, { conditions: { ifSequenceNumberLessThan: 5 } });
    await expect(late).rejects.toMatchObject({ code: "SequenceNumberConditionNotMet" });
    const raised = await blob.updateSequenceNumber("max", 9);
    expect(raised.blobSequenceNumber).toBe(9);
    expect((await blob.updateSequenceNumber("increment")).blobSequenceNumber).toBe(10);
  });
});

describe("snapshots, deletes and restores with the client library", () => {
  it("restores a deleted blob, and deletes it permanently on request", async () => {
    await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 3 } });
    const blob = container.getBlockBlobClient("b");
    await blob.upload("one", 3);
    const { snapshot = "" } = await blob.createSnapshot();
    await expect(blob.delete()).rejects.toMatchObject({ code: "SnapshotsPresent" });
    await blob.delete({ deleteSnapshots: "include" });
    expect(await blob.exists()).toBe(false);
    const deleted: unknown[] = [];
    const listing = container.listBlobsFlat({ includeDeleted: true, includeSnapshots: true });
    for await (const entry of listing) {
      deleted.push([entry.snapshot ?? "", entry.deleted, entry.properties.remainingRetentionDays]);
    }
    expect(deleted).toEqual([
      [snapshot, true, 3],
      ["", true, 3],
    ]);
    await blob.undelete();
    expect((await blob.downloadToBuffer()).toString()).toBe("one");
    expect((await blob.withSnapshot(snapshot).downloadToBuffer()).toString()).toBe("one");
    await service.setProperties({ deleteRetentionPolicy: { enabled: false } });
  });
});
