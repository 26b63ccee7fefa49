import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { WireClient } from "../smb-wire/wire-client.ts";
import { Access, createBody } from "../smb-wire/wire-messages.ts";

/** Names that identify everything in the account. */
export const foreign = {
  account: "devstoreaccount1",
  container: "foreign-box",
  path: "foreign.txt",
  queue: "foreign-queue",
  table: "foreigntable",
  share: "foreign-share",
} as const;

/** Creates one of everything that the admin API shows. */
export async function fillForeign(connectionString: string, smbUrl: string): Promise<WireClient> {
  const allowInsecureConnection = true;
  const blobs = BlobServiceClient.fromConnectionString(connectionString);
  const container = blobs.getContainerClient(foreign.container);
  await container.create();
  await container.getBlobLeaseClient().acquireLease(-1);
  const blob = container.getBlockBlobClient(foreign.path);
  await blob.upload("foreign", 7);
  await blob.getBlobLeaseClient().acquireLease(-1);
  const queues = QueueServiceClient.fromConnectionString(connectionString);
  const queue = queues.getQueueClient(foreign.queue);
  await queue.create();
  await queue.sendMessage("foreign message");
  await queue.receiveMessages({ visibilityTimeout: 3600 });
  const table = TableClient.fromConnectionString(connectionString, foreign.table, {
    allowInsecureConnection,
  });
  await table.createTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  const shares = ShareServiceClient.fromConnectionString(connectionString);
  const share = shares.getShareClient(foreign.share);
  await share.create();
  await share.getShareLeaseClient().acquireLease(-1);
  const client = await WireClient.ready(smbUrl, foreign.share);
  const asked = { access: Access.read, share: 7, disposition: 3 };
  await client.ask(5, createBody(foreign.path, asked));
  return client;
}
