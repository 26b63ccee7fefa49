import {
  generateQueueSASQueryParameters,
  QueueClient,
  QueueSASPermissions,
  QueueServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer();
const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
let service: QueueServiceClient;
let queue: QueueClient;

beforeAll(() => {
  service = QueueServiceClient.fromConnectionString(held.server.connectionString);
});
beforeEach(async () => {
  queue = service.getQueueClient(freshName("queue"));
  await queue.create();
});

describe("queues with the client library", () => {
  it("creates, lists, describes and deletes", async () => {
    expect((await queue.createIfNotExists()).succeeded).toBe(false);
    await queue.setMetadata({ owner: "tests" });
    const names: string[] = [];
    for await (const { name, metadata } of service.listQueues({ includeMetadata: true })) {
      names.push(name);
      if (name === queue.name) expect(metadata).toEqual({ owner: "tests" });
    }
    expect(names).toContain(queue.name);
    expect((await queue.getProperties()).metadata).toEqual({ owner: "tests" });
    await queue.delete();
    expect(await queue.exists()).toBe(false);
    expect((await queue.deleteIfExists()).succeeded).toBe(false);
  });
  it("lists page by page", async () => {
    const prefix = freshName("page");
    for (const end of ["a", "b", "c"]) await service.createQueue(`${prefix}-${end}`);
    const pages: string[][] = [];
    for await (const page of service.listQueues({ prefix }).byPage({ maxPageSize: 2 })) {
      pages.push((page.queueItems ?? []).map(({ name }) => name));
    }
    expect(pages).toEqual([[`${prefix}-a`, `${prefix}-b`], [`${prefix}-c`]]);
  });
  it("stores service properties and returns replication statistics", async () => {
    await service.setProperties({ hourMetrics: { version: "1.0", enabled: false } });
    const kept = await service.getProperties();
    expect(kept.hourMetrics?.enabled).toBe(false);
    const secondary = service.url.replace(
      developmentAccountName,
      `${developmentAccountName}-secondary`,
    );
    const stats = await new QueueServiceClient(secondary, credential).getStatistics();
    expect(stats.geoReplication?.status).toBe("live");
    for (const { _response } of [kept, stats]) {
      expect(_response.headers.get("cache-control")).toBe("no-cache");
    }
  });
});

describe("messages with the client library", () => {
  it("are returned unchanged, whatever they contain", async () => {
    // Without line feeds, which the library removes before sending.
    const texts = ["plain", "<a>&amp;</a> ]]>", "äöü 漢字 😀", "\ttab", "  spaced  "];
    for (const text of texts) await queue.sendMessage(text);
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    expect(peekedMessageItems.map(({ messageText }) => messageText)).toEqual(texts);
  });
  it("are received, updated and deleted", async () => {
    const sent = await queue.sendMessage("work", { messageTimeToLive: -1 });
    expect(sent.expiresOn.getUTCFullYear()).toBe(9999);
    const { receivedMessageItems } = await queue.receiveMessages({ visibilityTimeout: 100 });
    const [got] = receivedMessageItems;
    expect(got).toMatchObject({ messageId: sent.messageId, dequeueCount: 1 });
    const updated = await queue.updateMessage(got!.messageId, got!.popReceipt, "half done", 0);
    const again = (await queue.receiveMessages()).receivedMessageItems[0];
    expect(again).toMatchObject({ messageText: "half done", dequeueCount: 2 });
    const stale = queue.deleteMessage(got!.messageId, updated.popReceipt ?? "");
    await expect(stale).rejects.toMatchObject({ code: "PopReceiptMismatch" });
    await queue.deleteMessage(again!.messageId, again!.popReceipt);
    expect((await queue.getProperties()).approximateMessagesCount).toBe(0);
  });
  it("have at most 64 KiB", async () => {
    await queue.sendMessage("x".repeat(65_536));
    const tooLarge = queue.sendMessage("x".repeat(65_537));
    await expect(tooLarge).rejects.toMatchObject({ statusCode: 413, code: "RequestBodyTooLarge" });
    expect((await queue.getProperties()).approximateMessagesCount).toBe(1);
  });
  it("are cleared", async () => {
    await queue.sendMessage("a");
    await queue.clearMessages();
    expect((await queue.peekMessages()).peekedMessageItems).toEqual([]);
  });
});

describe("queue SAS with the client library", () => {
  const withSas = (permissions: string, identifier?: string) => {
    const values = {
      queueName: queue.name,
      ...(identifier === undefined
        ? {
            permissions: QueueSASPermissions.parse(permissions),
            expiresOn: new Date("2099-01-01"),
          }
        : { identifier }),
    };
    const token = generateQueueSASQueryParameters(values, credential).toString();
    return new QueueClient(`${queue.url}?${token}`);
  };

  it("authorizes its permissions only", async () => {
    await withSas("a").sendMessage("by token");
    await expect(withSas("a").peekMessages()).rejects.toMatchObject({
      code: "AuthorizationPermissionMismatch",
    });
    const [got] = (await withSas("p").receiveMessages()).receivedMessageItems;
    await withSas("u").updateMessage(got!.messageId, got!.popReceipt, "seen", 0);
    expect((await withSas("r").peekMessages()).peekedMessageItems[0]?.messageText).toBe("seen");
    await expect(withSas("raup").clearMessages()).rejects.toMatchObject({ statusCode: 403 });
  });
  it("follows its stored policy at once", async () => {
    const accessPolicy = { permissions: "r", expiresOn: new Date("2099-01-01") };
    const token = withSas("", "readers");
    await expect(token.peekMessages()).rejects.toMatchObject({ statusCode: 403 });
    await queue.setAccessPolicy([{ id: "readers", accessPolicy }]);
    expect((await queue.getAccessPolicy()).signedIdentifiers[0]?.id).toBe("readers");
    await token.peekMessages();
    await queue.setAccessPolicy([]);
    await expect(token.peekMessages()).rejects.toMatchObject({ statusCode: 403 });
  });
});
