import { TableClient, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";

export const bytesOf = (length: number, seed: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, index) => (index * 7 + seed) % 251));

const blockId = (index: number): string =>
  Buffer.from(String(index).padStart(6, "0")).toString("base64");

/** Creates one resource of every kind that an import supports, through the public API. */
export async function writeAzuriteData(connectionString: string): Promise<void> {
  const blobs = BlobServiceClient.fromConnectionString(connectionString);
  const box = blobs.getContainerClient("box");
  await box.create({ access: "blob", metadata: { color: "red" } });
  await box.setAccessPolicy("blob", [
    {
      id: "readers",
      accessPolicy: {
        startsOn: new Date("2025-01-01T00:00:00Z"),
        expiresOn: new Date("2045-01-01T00:00:00Z"),
        permissions: "rl",
      },
    },
  ]);
  await writeBlockBlobs(box);
  await writeOtherBlobs(box);
  await blobs.getContainerClient("empty").create();
  const leased = blobs.getContainerClient("leased");
  await leased.create();
  await leased.getBlobLeaseClient("33333333-3333-4333-8333-333333333333").acquireLease(-1);
  await writeQueues(QueueServiceClient.fromConnectionString(connectionString));
  await writeTables(connectionString);
}

async function writeBlockBlobs(box: ContainerClient): Promise<void> {
  const whole = box.getBlockBlobClient("folder/whole ünï.txt");
  await whole.upload(bytesOf(9000, 1), 9000, {
    blobHTTPHeaders: {
      blobContentType: "text/plain",
      blobContentLanguage: "de",
      blobContentEncoding: "identity",
      blobCacheControl: "no-cache",
      blobContentDisposition: "inline",
    },
    metadata: { first: "1", second: "zwei" },
    tags: { project: "import", stage: "one" },
    tier: "Cool",
  });
  const changed = box.getBlockBlobClient("snapshots");
  await changed.upload("first", 5, { metadata: { state: "first" } });
  await changed.createSnapshot();
  await changed.upload("second", 6, { metadata: { state: "second" } });
  await changed.createSnapshot({ metadata: { state: "snapshot" } });
  await changed.upload("third", 5);
  const blocks = box.getBlockBlobClient("blocks");
  for (let index = 0; index < 100; index += 1) {
    await blocks.stageBlock(blockId(index), bytesOf(100 + index, index), 100 + index);
  }
  const ids = Array.from({ length: 100 }, (_, index) => blockId(index));
  await blocks.commitBlockList(ids.slice(0, 90));
  await blocks.stageBlock(blockId(200), bytesOf(5000, 200), 5000);
  await blocks.stageBlock(blockId(201), bytesOf(10, 201), 10);
  const staged = box.getBlockBlobClient("staged only");
  await staged.stageBlock(blockId(0), bytesOf(77, 0), 77);
  await box.getBlockBlobClient("nothing").upload("", 0);
  const leased = box.getBlockBlobClient("leased");
  await leased.upload("x", 1);
  await leased.getBlobLeaseClient("11111111-1111-4111-8111-111111111111").acquireLease(-1);
  const broken = box.getBlockBlobClient("broken");
  await broken.upload("x", 1);
  const lease = broken.getBlobLeaseClient("22222222-2222-4222-8222-222222222222");
  await lease.acquireLease(60);
  await lease.breakLease(0);
  await box
    .getBlockBlobClient("copied")
    .syncCopyFromURL(whole.url)
    .catch(async () => {
      const poller = await box.getBlockBlobClient("copied").beginCopyFromURL(whole.url);
      await poller.pollUntilDone();
    });
}

async function writeOtherBlobs(box: ContainerClient): Promise<void> {
  const log = box.getAppendBlobClient("append");
  await log.create({ metadata: { kind: "log" } });
  for (let index = 0; index < 70; index += 1) await log.appendBlock(bytesOf(50, index), 50);
  const pages = box.getPageBlobClient("pages");
  await pages.create(1024 * 1024, { blobSequenceNumber: 7 });
  await pages.uploadPages(bytesOf(1024, 3), 512, 1024);
  await pages.uploadPages(bytesOf(512, 4), 64 * 1024, 512);
  await pages.clearPages(512, 512);
  await pages.createSnapshot();
  await pages.uploadPages(bytesOf(512, 5), 0, 512);
}

async function writeQueues(service: QueueServiceClient): Promise<void> {
  const queue = service.getQueueClient("work");
  await queue.create({ metadata: { team: "blue" } });
  await queue.setAccessPolicy([
    {
      id: "workers",
      accessPolicy: {
        startsOn: new Date("2025-01-01T00:00:00Z"),
        expiresOn: new Date("2045-01-01T00:00:00Z"),
        permissions: "rp",
      },
    },
  ]);
  const never = { messageTimeToLive: -1 };
  await queue.sendMessage("taken <twice> & back ünï", never);
  for (let count = 0; count < 2; count += 1) {
    const { receivedMessageItems } = await queue.receiveMessages({ visibilityTimeout: 1 });
    const [message] = receivedMessageItems;
    if (message === undefined) throw new Error("the message is not visible");
    await queue.updateMessage(message.messageId, message.popReceipt, undefined, 0);
  }
  await queue.sendMessage("second", never);
  await queue.sendMessage("hidden", { ...never, visibilityTimeout: 7 * 24 * 3600 });
  await service.getQueueClient("idle").create();
}

async function writeTables(connectionString: string): Promise<void> {
  const options = { allowInsecureConnection: true };
  const service = TableServiceClient.fromConnectionString(connectionString, options);
  await service.createTable("Inventory");
  await service.createTable("nothing");
  const table = TableClient.fromConnectionString(connectionString, "Inventory", options);
  await table.setAccessPolicy([
    {
      id: "auditors",
      accessPolicy: {
        start: new Date("2025-01-01T00:00:00Z"),
        expiry: new Date("2045-01-01T00:00:00Z"),
        permission: "r",
      },
    },
  ]);
  await table.createEntity({
    partitionKey: "p'1",
    rowKey: "every type",
    text: "ünï",
    whole: 42,
    fraction: 1.5,
    yes: true,
    long: { type: "Int64", value: "9007199254740993" },
    double: { type: "Double", value: "3" },
    when: { type: "DateTime", value: "2024-02-29T12:34:56.1234567Z" },
    id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
    bytes: new Uint8Array([0, 1, 254, 255]),
  });
  for (let index = 0; index < 150; index += 1) {
    await table.createEntity({
      partitionKey: "many",
      rowKey: String(index).padStart(3, "0"),
      index,
    });
  }
}
