import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { azuriteFixture } from "./azurite-fixture.ts";
import { editDatabase, type Fields } from "./edit-database.ts";
import { importInto } from "./import-into.ts";

/** Nearly as many as a millisecond has ticks. */
const expiredCount = 9990;
const keptCount = 20;
const never = "9999-12-31T23:59:59.999Z";

it("messages of one millisecond keep their order, however many there are", async () => {
  const fixture = await azuriteFixture();
  const location = await mkdtemp(join(tmpdir(), "etagere-order-"));
  let queue = "";
  const edit = (message: Fields): readonly Fields[] => {
    const { queueName } = message;
    if (typeof queueName !== "string") return [message];
    if (queue !== "") return [];
    queue = queueName;
    const expired = { ...message, expirationTime: "2025-03-02T00:00:00.000Z" };
    const { insertionTime } = message;
    const kept = { ...message, expirationTime: never, timeNextVisible: insertionTime };
    return [
      ...Array.from({ length: expiredCount }, () => ({ ...expired, insertionTime: never })),
      ...Array.from({ length: keptCount }, (_, at) => ({ ...kept, dequeueCount: at })),
    ];
  };
  editDatabase(fixture.folder, "queue", edit);
  await importInto(location, fixture.folder);
  {
    await using server = await start({ port: 0, location });
    const service = QueueServiceClient.fromConnectionString(server.connectionString);
    const client = service.getQueueClient(queue);
    const { peekedMessageItems } = await client.peekMessages({ numberOfMessages: keptCount });
    const order = peekedMessageItems.map(({ dequeueCount }) => dequeueCount);
    expect(order).toEqual(Array.from({ length: keptCount }, (_, at) => at));
  }
  fixture.remove();
  await rm(location, { recursive: true });
});
