import { DefaultAzureCredential } from "@azure/identity";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { credentialWorld, setEnvironment } from "./credential-world.ts";

const { options, clientsOf } = credentialWorld();

it("DefaultAzureCredential puts, leases, sends and changes entities without a key", async () => {
  await using server = await start(options);
  await setEnvironment(server);
  const { blobs, queues, table } = clientsOf(server, new DefaultAzureCredential());
  const container = blobs.getContainerClient("one");
  await container.create();
  const blob = container.getBlockBlobClient("blob");
  await blob.upload("text", 4);
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(15);
  await expect(blob.upload("lost", 4)).rejects.toMatchObject({ statusCode: 412 });
  await lease.releaseLease();
  expect((await blob.downloadToBuffer()).toString()).toBe("text");
  const queue = queues.getQueueClient("queue");
  await queue.create();
  await queue.sendMessage("message");
  expect((await queue.receiveMessages()).receivedMessageItems).toHaveLength(1);
  await table.createTable();
  await table.submitTransaction([
    ["create", { partitionKey: "p", rowKey: "1", value: 1 }],
    ["create", { partitionKey: "p", rowKey: "2", value: 2 }],
  ]);
  expect((await table.getEntity("p", "2"))["value"]).toBe(2);
});
