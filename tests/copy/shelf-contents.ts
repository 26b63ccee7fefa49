import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { pattern } from "../harness/content-fixture.ts";

/** Content of every kind (inline, extents, tree), records and counters. */
export async function fill(connection: string): Promise<void> {
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient("ccc");
  await container.create();
  for (const length of [100, 5000, 300_000, 9_000_000]) {
    const body = Buffer.from(pattern(length, length));
    await container.getBlockBlobClient(`blob-${length}`).uploadData(body, { metadata: { a: "b" } });
  }
  await container.getBlockBlobClient("blob-100").createSnapshot();
  const pages = container.getPageBlobClient("pages");
  await pages.create(1024 * 1024);
  for (let index = 0; index < 60; index += 1) {
    await pages.uploadPages(Buffer.from(pattern(512, index)), index * 2048, 512);
  }
  const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient("qqq");
  await queue.create();
  for (let index = 0; index < 20; index += 1) await queue.sendMessage(`message ${index}`);
  const table = tableOf(connection);
  await table.createTable();
  for (let index = 0; index < 20; index += 1) {
    await table.createEntity({ partitionKey: "p", rowKey: `${index}`, text: "t".repeat(index) });
  }
  const share = ShareServiceClient.fromConnectionString(connection).getShareClient("sss");
  await share.create();
  await share.rootDirectoryClient.createFile("file", 100_000);
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.uploadRange(Buffer.from(pattern(50_000, 3)), 1000, 50_000);
}

/** After a restart, so in another extent. */
export async function fillAgain(connection: string): Promise<void> {
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient("ccc");
  await container.getBlockBlobClient("again").uploadData(Buffer.from(pattern(500_000, 2)));
}

function tableOf(connection: string): TableClient {
  return TableClient.fromConnectionString(connection, "ttt", { allowInsecureConnection: true });
}

/** Everything that clients can see. */
export async function contentsOf(connection: string): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {};
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient("ccc");
  for await (const item of container.listBlobsFlat({ includeSnapshots: true })) {
    const { name, snapshot, properties } = item;
    const base = container.getBlobClient(name);
    const blob = snapshot ? base.withSnapshot(snapshot) : base;
    const bytes = await blob.downloadToBuffer();
    found[`blob ${name} ${snapshot}`] = [properties.etag, bytes.toString("base64")];
  }
  const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient("qqq");
  found["queue"] = (await queue.getProperties()).approximateMessagesCount;
  const peeked = await queue.peekMessages({ numberOfMessages: 32 });
  found["messages"] = peeked.peekedMessageItems.map((each) => [each.messageId, each.messageText]);
  for await (const entity of tableOf(connection).listEntities()) {
    found[`entity ${entity.rowKey}`] = [entity.etag, entity["text"]];
  }
  const share = ShareServiceClient.fromConnectionString(connection).getShareClient("sss");
  const bytes = await share.rootDirectoryClient.getFileClient("file").downloadToBuffer();
  found["file"] = bytes.toString("base64");
  return found;
}

/** Writes of all kinds work in the store that was copied from another. */
export async function changeAll(connection: string): Promise<void> {
  const container = BlobServiceClient.fromConnectionString(connection).getContainerClient("ccc");
  await container.getBlockBlobClient("new").uploadData(Buffer.from(pattern(400_000, 1)));
  await container.getPageBlobClient("pages").uploadPages(Buffer.alloc(512, 1), 512, 512);
  const queue = QueueServiceClient.fromConnectionString(connection).getQueueClient("qqq");
  await queue.sendMessage("one more");
  const { approximateMessagesCount } = await queue.getProperties();
  if (approximateMessagesCount !== 21) throw new Error(`${approximateMessagesCount} messages`);
  await tableOf(connection).createEntity({ partitionKey: "p", rowKey: "new" });
}
