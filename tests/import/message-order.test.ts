import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { azuriteFixture } from "./azurite-fixture.ts";
import { editDatabase, type Fields } from "./edit-database.ts";
import { importInto } from "./import-into.ts";

/** As many as there are ticks in a millisecond, but for the first message of the pair. */
const expiredCount = 9998;
const never = "9999-12-31T23:59:59.999Z";

it("messages of one millisecond keep their order, however many came before", async () => {
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
    const pair = { ...message, expirationTime: never, timeNextVisible: insertionTime };
    return [
      ...Array.from({ length: expiredCount }, () => ({ ...expired, insertionTime: never })),
      { ...pair, dequeueCount: 1 },
      { ...pair, dequeueCount: 2 },
    ];
  };
  editDatabase(fixture.folder, "queue", edit);
  await importInto(location, fixture.folder);
  {
    await using server = await start({ port: 0, location });
    const service = QueueServiceClient.fromConnectionString(server.connectionString);
    const client = service.getQueueClient(queue);
    const { peekedMessageItems } = await client.peekMessages({ numberOfMessages: 2 });
    expect(peekedMessageItems.map(({ dequeueCount }) => dequeueCount)).toEqual([1, 2]);
  }
  fixture.remove();
  await rm(location, { recursive: true });
});
