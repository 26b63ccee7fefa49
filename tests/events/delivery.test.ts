import { createHmac } from "node:crypto";
import { QueueServiceClient } from "@azure/storage-queue";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { start, type EtagereServer, type StartOptions } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { isOnDatabase, placeOf } from "../harness/test-store.ts";
import { webhookReceiver, type ReceivedEvent, type WebhookReceiver } from "./webhook-receiver.ts";

let server: EtagereServer;
let receiver: WebhookReceiver;
let blobs: BlobServiceClient;

beforeEach(async () => {
  receiver = await webhookReceiver();
  await open();
});

afterEach(async () => {
  await server.stop();
  await receiver[Symbol.asyncDispose]();
});

async function open(options: StartOptions = {}): Promise<void> {
  const eventWebhooks = `${receiver.url}/`;
  server = await start({ ...freePorts, noSmb: true, ...placeOf({}), eventWebhooks, ...options });
  blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  await blobs.getContainerClient("box").createIfNotExists();
}

const account = developmentAccountName;

async function admin(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${server.adminUrl}/admin/v1/${path}`, {
    method,
    headers: { "x-etagere-admin": "1", "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function subscribe(name: string, input: object): Promise<void> {
  const answer = await admin("PUT", `subscriptions/${account}/${name}`, input);
  expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)]);
}

async function status(name: string): Promise<Record<string, unknown>> {
  const answer = await admin("GET", `subscriptions/${account}/${name}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function upload(name: string, text = "hello"): Promise<void> {
  const blob = blobs.getContainerClient("box").getBlockBlobClient(name);
  await blob.upload(text, text.length);
}

const namesOf = (events: readonly ReceivedEvent[]) =>
  events.map(({ subject }) => subject.split("/blobs/")[1]);

const names = (count: number, prefix = "b") =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`);

describe("a queue", () => {
  async function messages(name: string): Promise<readonly ReceivedEvent[]> {
    const queue = QueueServiceClient.fromConnectionString(server.connectionString);
    const { receivedMessageItems } = await queue
      .getQueueClient(name)
      .receiveMessages({ numberOfMessages: 32 });
    const decoded = receivedMessageItems.map(({ messageText }) =>
      Buffer.from(messageText, "base64").toString(),
    );
    return decoded.map((text) => JSON.parse(text) as ReceivedEvent);
  }

  async function createQueue(name: string): Promise<void> {
    await QueueServiceClient.fromConnectionString(server.connectionString).createQueue(name);
  }

  test("gets each event once, in commit order, as Event Grid writes it", async () => {
    await createQueue("events");
    await upload("before");
    await subscribe("to-queue", { destination: { queue: "events" } });
    for (const name of names(20)) await upload(name);
    await blobs.getContainerClient("box").getBlobClient("b3").delete();
    await server.events.settled();
    const found = await messages("events");
    expect(namesOf(found)).toEqual([...names(20), "b3"]);
    expect(found[0]).toMatchObject({
      eventType: "Microsoft.Storage.BlobCreated",
      data: { api: "PutBlob", contentLength: 5, url: `${server.urls.blob}/${account}/box/b0` },
    });
    expect(found.at(-1)).toMatchObject({ eventType: "Microsoft.Storage.BlobDeleted" });
    expect(await status("to-queue")).toMatchObject({ delivered: 21, retries: 0, backlog: 0 });
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
    expect(metrics).toContain('etagere_events_total{result="delivered"} 21\n');
    expect(metrics).toContain("etagere_events_backlog 0\n");
    expect(metrics).not.toContain(account);
  });

  test("that does not exist yet gets the events when it does", async () => {
    await subscribe("to-queue", { destination: { queue: "later" } });
    for (const name of names(3)) await upload(name);
    const settled = server.events.settled();
    await expect.poll(() => status("to-queue")).toMatchObject({ retries: 3, delivered: 0 });
    await createQueue("later");
    server.clock.advance("1m");
    await settled;
    expect(new Set(namesOf(await messages("later")))).toEqual(new Set(names(3)));
  });

  test("gets what the filters admit", async () => {
    await createQueue("events");
    await subscribe("to-queue", {
      destination: { queue: "events" },
      subjectBeginsWith: "/blobServices/default/containers/box/blobs/in/",
      subjectEndsWith: ".txt",
      advancedFilters: [{ operatorType: "NumberGreaterThan", key: "data.contentLength", value: 3 }],
    });
    for (const name of ["in/a.txt", "in/b.png", "out/c.txt"]) await upload(name);
    await upload("in/small.txt", "x");
    await blobs.getContainerClient("box").getBlockBlobClient("in/a.txt").setMetadata({ k: "v" });
    await server.events.settled();
    expect(namesOf(await messages("events"))).toEqual(["in/a.txt"]);
  });
});

describe("a webhook", () => {
  const webhook = (extra: object = {}) => ({ webhook: `${receiver.url}/hook?code=1`, ...extra });

  test("gets one event per request, after the handshake", async () => {
    await subscribe("hook", { destination: webhook() });
    expect(receiver.handshakes).toHaveLength(1);
    await upload("a");
    await server.events.settled();
    expect(receiver.requests).toHaveLength(1);
    const [{ headers, path, body }] = receiver.requests as [WebhookReceiver["requests"][0]];
    expect(path).toBe("/hook?code=1");
    expect(headers).toMatchObject({
      "aeg-event-type": "Notification",
      "aeg-subscription-name": "HOOK",
      "content-type": "application/json; charset=utf-8",
    });
    expect(JSON.parse(body)).toMatchObject([{ eventType: "Microsoft.Storage.BlobCreated" }]);
  });

  test("gets CloudEvents, signed with the secret", async () => {
    const secret = "a secret of some length".replaceAll(" ", "-");
    await subscribe("hook", { destination: webhook({ schema: "CloudEventSchemaV1_0", secret }) });
    expect(receiver.handshakes.map(({ method }) => method)).toEqual(["OPTIONS"]);
    await upload("a");
    await server.events.settled();
    const [{ headers, body }] = receiver.requests as [WebhookReceiver["requests"][0]];
    expect(headers["content-type"]).toBe("application/cloudevents+json; charset=utf-8");
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    expect(headers["x-etagere-signature"]).toBe(`sha256=${signature}`);
    expect(JSON.parse(body)).toMatchObject({ specversion: "1.0", subject: expect.any(String) });
    expect(JSON.stringify(await status("hook"))).not.toContain(secret);
  });

  test("gets the events of each blob in order, also after failures", async () => {
    await subscribe("hook", { destination: webhook() });
    const failedOnce = new Set<string>();
    receiver.answer = ({ body }, response) => {
      const [{ subject }] = JSON.parse(body) as [ReceivedEvent];
      response.statusCode = failedOnce.has(subject) ? 200 : 503;
      failedOnce.add(subject);
      response.end();
    };
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(names(8).map((name) => upload(name, "x".repeat(round + 1))));
    }
    const settled = server.events.settled();
    await expect.poll(() => status("hook")).toMatchObject({ retries: 40, failed: 8 });
    server.clock.advance("15s");
    await settled;
    const delivered = receiver.events().slice(8);
    expect(delivered).toHaveLength(40);
    for (const name of names(8)) {
      const own = delivered.filter(({ subject }) => subject.endsWith(`/${name}`));
      expect(own.map(({ data }) => data["contentLength"])).toEqual([1, 2, 3, 4, 5]);
      const sequencers = own.map(({ data }) => String(data["sequencer"]));
      expect(sequencers.toSorted()).toEqual(sequencers);
    }
    expect(await status("hook")).toMatchObject({ delivered: 40, retries: 0, deadLettered: 0 });
  });

  test("that fails for good: its events become dead letters", async () => {
    await subscribe("hook", {
      destination: webhook(),
      deadLetterContainer: "dead",
      maxDeliveryAttempts: 2,
    });
    receiver.answer = (_, response) => void response.writeHead(500).end();
    await upload("a");
    const settled = server.events.settled();
    await expect.poll(() => status("hook")).toMatchObject({ failed: 1 });
    server.clock.advance("15s");
    await settled;
    expect(await status("hook")).toMatchObject({ failed: 2, deadLettered: 1, retries: 0 });
    const dead = blobs.getContainerClient("dead");
    const letters: unknown[] = [];
    for await (const { name } of dead.listBlobsFlat()) {
      expect(name).toMatch(/^hook\/\d{4}\/\d\d\/\d\d\/\d\d\/[0-9a-f-]{36}\.json$/);
      letters.push(JSON.parse((await dead.getBlobClient(name).downloadToBuffer()).toString()));
    }
    expect(letters).toMatchObject([
      [
        {
          subject: "/blobServices/default/containers/box/blobs/a",
          deadLetterReason: "MaxDeliveryAttemptsExceeded",
          deliveryAttempts: 2,
          lastHttpStatusCode: 500,
        },
      ],
    ]);
    // The dead letter is a blob, too; its event is not delivered.
    await server.events.settled();
    expect(await status("hook")).toMatchObject({ failed: 2, deadLettered: 1 });
  });

  test("that rejects an event gets no retry; without a container it is dropped", async () => {
    await subscribe("hook", { destination: webhook() });
    receiver.answer = (_, response) => void response.writeHead(400).end();
    await upload("a");
    await server.events.settled();
    expect(receiver.requests).toHaveLength(1);
    expect(await status("hook")).toMatchObject({
      dropped: 1,
      failures: [{ reason: "status 400", subject: expect.stringContaining("/a") }],
    });
  });

  test("that never answers: the events expire after their time to live", async ({ skip }) => {
    skip(isOnDatabase, "the times of events are those of the database, which cannot be moved");
    await subscribe("hook", {
      destination: webhook(),
      eventTimeToLiveSeconds: 60,
      deadLetterContainer: "dead",
    });
    receiver.answer = () => {};
    await upload("a");
    const settled = server.events.settled();
    await expect.poll(() => receiver.requests.length).toBe(1);
    server.clock.advance("31s");
    await expect.poll(() => status("hook")).toMatchObject({ failed: 1, retries: 1 });
    server.clock.advance("61s");
    await settled;
    expect(await status("hook")).toMatchObject({
      deadLettered: 1,
      failures: [{ reason: "no response within 30 s" }],
    });
  });

  test("that redirects, or returns a body without end, harms nothing", async () => {
    await subscribe("hook", { destination: webhook(), maxDeliveryAttempts: 1 });
    const elsewhere = await webhookReceiver();
    receiver.answer = (_, response) =>
      void response.writeHead(307, { location: elsewhere.url }).end();
    await upload("a");
    await server.events.settled();
    expect(elsewhere.requests).toEqual([]);
    await elsewhere[Symbol.asyncDispose]();
    let sent = 0;
    const chunk = Buffer.alloc(1024 * 1024);
    receiver.answer = (_, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && sent < 1024 && response.write(chunk)) sent += 1;
        sent += 1;
      };
      response.on("drain", more);
      response.on("error", () => {});
      more();
    };
    await upload("b");
    await server.events.settled();
    expect(sent).toBeLessThan(64);
    expect(await status("hook")).toMatchObject({ delivered: 1, dropped: 1 });
  });

  test.each([
    ["https://example.com/hook", 403, "WebhookNotListed"],
    ["file:///etc/passwd", 400, "InvalidInput"],
  ])("at %s is refused", async (url, code, error) => {
    const body = { destination: { webhook: url } };
    const answer = await admin("PUT", `subscriptions/${account}/hook`, body);
    expect(answer.status).toBe(code);
    expect(await answer.json()).toMatchObject({ error: { code: error } });
    expect((await admin("GET", `subscriptions/${account}/hook`)).status).toBe(404);
  });

  test("is never a listener of this server", async () => {
    const { urls, adminUrl } = server;
    const { port: blobPort } = new URL(urls.blob ?? "");
    const { port: adminPort } = new URL(adminUrl);
    await server.stop();
    const listed = [blobPort, adminPort].flatMap((port) =>
      ["127.0.0.1", "localhost"].map((host) => `http://${host}:${port}/`),
    );
    await open({
      eventWebhooks: listed.join(","),
      blobPort: Number(blobPort),
      adminPort: Number(adminPort),
    });
    for (const url of listed) {
      const body = { destination: { webhook: url } };
      const answer = await admin("PUT", `subscriptions/${account}/hook`, body);
      expect(await answer.json()).toMatchObject({
        error: { code: "WebhookNotValidated", message: expect.stringContaining("blocked address") },
      });
    }
  });

  test.each(["EventGridSchema", "CloudEventSchemaV1_0"])(
    "that does not take part in the handshake is refused (%s)",
    async (schema) => {
      receiver.isWilling = false;
      const body = { destination: webhook({ schema }) };
      const answer = await admin("PUT", `subscriptions/${account}/hook`, body);
      expect(await answer.json()).toMatchObject({ error: { code: "WebhookNotValidated" } });
      expect((await admin("GET", `subscriptions/${account}/hook`)).status).toBe(404);
    },
  );
});

describe("a subscription", () => {
  test("with too many filters is rejected, and changes nothing", async () => {
    const one = { operatorType: "StringIn", key: "subject", values: ["a"] };
    const answer = await admin("PUT", `subscriptions/${account}/hook`, {
      destination: { queue: "events" },
      advancedFilters: Array.from({ length: 500 }, () => one),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("at most 25 filters");
    expect(await (await admin("GET", "subscriptions")).json()).toEqual({ subscriptions: [] });
  });

  test("survives a reset, which removes the undelivered events", async () => {
    await subscribe("hook", { destination: { webhook: `${receiver.url}/` } });
    receiver.answer = (_, response) => void response.writeHead(503).end();
    await upload("a");
    await expect.poll(() => status("hook")).toMatchObject({ retries: 1 });
    receiver.answer = undefined;
    await server.reset();
    await server.events.settled();
    await blobs.getContainerClient("box").create();
    await upload("b");
    await server.events.settled();
    expect(namesOf(receiver.events())).toEqual(["a", "b"]);
  });

  test("continues after a restore without delivering events again", async ({ skip }) => {
    skip(isOnDatabase, "a database has no saved states");
    await subscribe("hook", { destination: { webhook: `${receiver.url}/` } });
    await upload("a");
    await server.events.settled();
    const snapshot = await server.snapshot();
    for (const name of ["b", "c"]) await upload(name);
    await server.events.settled();
    await server.restore(snapshot);
    for (const name of ["d", "e"]) await upload(name);
    await server.events.settled();
    expect(namesOf(receiver.events())).toEqual(["a", "b", "c", "d", "e"]);
    expect(await status("hook")).toMatchObject({ delivered: 3 });
  });

  test("that is deleted gets no more events, and the account writes none", async () => {
    await subscribe("hook", { destination: { webhook: `${receiver.url}/` } });
    expect((await admin("DELETE", `subscriptions/${account}/hook`)).status).toBe(204);
    expect((await admin("DELETE", `subscriptions/${account}/hook`)).status).toBe(404);
    await upload("a");
    await server.events.settled();
    expect(receiver.requests).toEqual([]);
  });

  test("of the configuration needs a webhook that is listed", async () => {
    const destination = { webhook: "http://127.0.0.1:9/" };
    const accounts = { [account]: { subscriptions: { hook: { destination } } } };
    const options = { ...freePorts, noSmb: true, ...placeOf({}), accounts };
    await expect(start(options)).rejects.toThrow(
      'subscription "hook": its webhook is not listed: list the beginning of http://127.0.0.1:9',
    );
  });

  test("of the configuration is there from the start, and cannot be changed", async () => {
    await server.stop();
    const destination = { webhook: `${receiver.url}/` };
    await open({ accounts: { [account]: { subscriptions: { hook: { destination } } } } });
    await upload("a");
    await server.events.settled();
    expect(namesOf(receiver.events())).toEqual(["a"]);
    const changed = await admin("PUT", `subscriptions/${account}/hook`, { destination });
    expect([changed.status, await changed.json()]).toMatchObject([
      409,
      { error: { code: "SubscriptionIsConfigured" } },
    ]);
  });
});
