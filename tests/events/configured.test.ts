import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterEach, expect, test } from "vitest";
import { developmentAccountName as account } from "../../src/account/settings.ts";
import { start, StartRefused, type EtagereServer } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const location = temporaryFolder();
const destination = { queue: "events" };
const configured = { subscriptions: { orders: { destination } } };

let server: EtagereServer;

afterEach(() => server.stop());

async function open(settings: object = {}): Promise<void> {
  const accounts = { [account]: settings };
  server = await start({ ...freePorts, noSmb: true, location, accounts, eventLogDays: 2 });
}

async function admin(method: string, name = "", body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.adminUrl}/admin/v1/${name}`, {
    method,
    headers: { "x-etagere-admin": "1", "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
}

const orders = `subscriptions/${account}/orders`;

async function upload(...names: readonly string[]): Promise<void> {
  const service = BlobServiceClient.fromConnectionString(server.connectionString);
  const box = service.getContainerClient("box");
  await box.createIfNotExists();
  for (const name of names) await box.uploadBlockBlob(name, "x", 1);
}

async function received(): Promise<readonly string[]> {
  const service = QueueServiceClient.fromConnectionString(server.connectionString);
  const queue = service.getQueueClient("events");
  await queue.createIfNotExists();
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
  return receivedMessageItems.map(({ messageText }) => {
    const text = Buffer.from(messageText, "base64").toString();
    return (JSON.parse(text) as { readonly subject: string }).subject.split("/").at(-1)!;
  });
}

test("a start without the configuration keeps the events of its subscriptions", async () => {
  await open(configured);
  await admin("PATCH", orders, { isPaused: true });
  await upload("a");
  await server.stop();
  await open();
  await upload("b");
  await server.events.settled();
  expect(await admin("GET", orders)).toMatchObject({
    source: "configured",
    absentSince: expect.stringMatching(/Z$/),
    backlog: 2,
  });
  await server.stop();
  await open(configured);
  const present = await admin("GET", orders);
  expect(present).toMatchObject({ isPaused: true, backlog: 2 });
  expect(present["absentSince"]).toBeUndefined();
  await received();
  await admin("PATCH", orders, { isPaused: false });
  await server.events.settled();
  expect(await received()).toEqual(["a", "b"]);
  await server.stop();
  await open();
  expect((await admin("GET", orders))["absentSince"]).toBeDefined();
  server.clock.advance(2 * 86_400_000);
  await expect
    .poll(() => admin("GET", orders), { timeout: 20_000 })
    .toMatchObject({ error: { code: "SubscriptionNotFound" } });
});

test("a subscription that is not configured any more can be deleted or stored", async () => {
  await open(configured);
  expect(await admin("DELETE", orders)).toMatchObject({
    error: { code: "SubscriptionIsConfigured" },
  });
  await server.stop();
  await open();
  expect(await admin("PUT", orders, { destination })).toMatchObject({ source: "stored" });
  expect(await admin("DELETE", orders)).toEqual({});
});

test("a configured subscription does not replace a stored one", async () => {
  await open();
  await admin("PUT", orders, { destination: { queue: "others" } });
  await server.stop();
  const refused = await open(configured).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StartRefused);
  expect((refused as Error).message).toContain("was created on the server");
  await open();
  expect(await admin("GET", orders)).toMatchObject({ destination: { queue: "others" } });
  await admin("DELETE", orders);
});

test("settled names the change feed until it has the events", async () => {
  await open({ changeFeed: true });
  await upload("a");
  const early = await admin("POST", "events/settled", { timeoutSeconds: 0 });
  const waiting = [`${account}/$blobchangefeed`];
  expect(early).toEqual({ settled: false, waiting });
  expect(await admin("POST", "events/settled", {})).toEqual({ settled: true, waiting: [] });
});
