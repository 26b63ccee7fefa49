import { BlobServiceClient } from "@azure/storage-blob";
import { start } from "etagere";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countWords, startWordCount } from "./word-count.mjs";

let webhook;
let server;
let service;

beforeAll(async () => {
  webhook = await startWordCount();
  const counts = {
    destination: { webhook: webhook.url },
    eventTypes: ["Microsoft.Storage.BlobCreated"],
    subjectBeginsWith: "/blobServices/default/containers/texts/",
  };
  server = await start({
    port: 0,
    inMemoryPersistence: true,
    noSmb: true,
    eventWebhooks: webhook.url,
    accounts: { devstoreaccount1: { subscriptions: { counts } } },
  });
  service = BlobServiceClient.fromConnectionString(server.connectionString);
  webhook.handle = (url) => countWords(service, url);
  await service.createContainer("texts");
  await service.createContainer("counts");
}, 60_000);

afterAll(async () => {
  await server?.stop();
  webhook?.close();
});

test("counts the words of an uploaded text", async () => {
  const text = "an event exists if and only if its commit exists";
  await service.getContainerClient("texts").uploadBlockBlob("a.txt", text, text.length);
  await server.events.settled();
  const count = service.getContainerClient("counts").getBlobClient("a.txt");
  expect((await count.downloadToBuffer()).toString()).toBe("10");
});

test("is called again if it fails", async () => {
  const { handle } = webhook;
  webhook.handle = async () => {
    webhook.handle = handle;
    throw new Error("not yet");
  };
  await service.getContainerClient("texts").uploadBlockBlob("b.txt", "two words", 9);
  const settled = server.events.settled();
  const count = service.getContainerClient("counts").getBlobClient("b.txt");
  // The next attempt is made after 10 s, which need not pass.
  const isCounted = () => {
    if (webhook.handle === handle) server.clock.advance("11s");
    return count.exists();
  };
  await expect.poll(isCounted, { interval: 500, timeout: 30_000 }).toBe(true);
  await settled;
}, 60_000);
