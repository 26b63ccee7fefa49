import { BlobServiceClient } from "@azure/storage-blob";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { adminServer, type AdminServer } from "../admin/admin-server.ts";
import { adminHeaders } from "../admin/admin-server.ts";
import { webhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

const adminToken = "a token that is long enough";
const token = { Authorization: `Bearer ${adminToken}` };
const secret = "a-secret-of-a-principal";
const account = "devstoreaccount1";
const principal = (number: number) => ({
  objectId: `aaaaaaaa-0000-4000-8000-00000000000${number}`,
  secret,
});
const identity = {
  principals: { reader: principal(1), changer: principal(2), other: principal(3) },
  roleAssignments: [
    { principal: "reader", role: "EventGrid EventSubscription Reader", account },
    { principal: "changer", role: "EventGrid EventSubscription Contributor", account },
    { principal: "other", role: "Storage Blob Data Owner", account },
  ],
};

type Headers = Readonly<Record<string, string>>;

let admin: AdminServer;
let receiver: WebhookReceiver;

beforeEach(async () => {
  receiver = await webhookReceiver();
  const accounts = { [account]: {}, another: { keys: [Buffer.alloc(64, 2).toString("base64")] } };
  const eventWebhooks = `${receiver.url}/`;
  admin = await adminServer({ accounts, adminToken, identity, eventWebhooks });
  const service = BlobServiceClient.fromConnectionString(admin.server.connectionString);
  await service.createContainer("box");
});

afterEach(async () => {
  await admin[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

async function logIn(name: string): Promise<Headers> {
  const answer = await admin.post("/admin/v1/session", { principal: name, secret });
  return { Cookie: answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly error?: { readonly code: string } };
}

async function send(
  method: string,
  name: string,
  { body, as = token }: { readonly body?: object; readonly as?: Headers } = {},
): Promise<Answer> {
  const url = `${admin.server.adminUrl}/admin/v1/subscriptions${name === "" ? "" : `/${name}`}`;
  const headers = { ...adminHeaders, ...as, "content-type": "application/json" };
  const sent = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await sent.text();
  return { status: sent.status, body: (text === "" ? {} : JSON.parse(text)) as Answer["body"] };
}

async function upload(...names: readonly string[]): Promise<void> {
  const service = BlobServiceClient.fromConnectionString(admin.server.connectionString);
  const box = service.getContainerClient("box");
  for (const name of names) await box.uploadBlockBlob(name, "x", 1);
}

const delivered = () => receiver.events().map(({ subject }) => subject.split("/blobs/")[1]);
const hook = `${account}/hook`;

describe("a change of a subscription", () => {
  const create = (extra: object = {}) => {
    const webhook = `${receiver.url}/hook?functionName=a&code=1&key9`;
    const destination = { webhook, secret: "12345678", ...extra };
    return send("PUT", hook, { body: { destination } });
  };

  test("keeps the secret and the query that no response shows", async () => {
    await create();
    await upload("a.txt");
    await admin.server.events.settled();
    const body = { subjectEndsWith: ".png" };
    const changed = await send("PATCH", hook, { body });
    expect(changed).toMatchObject({ status: 200, body: { ...body, delivered: 1 } });
    expect(JSON.stringify(changed.body)).not.toContain("12345678");
    const shown = { url: `${receiver.url}/hook?functionName=a&…`, isSigned: true };
    expect(changed.body["destination"]).toMatchObject(shown);
    await upload("b.txt", "c.png");
    await admin.server.events.settled();
    expect(delivered()).toEqual(["a.txt", "c.png"]);
    const last = receiver.requests.at(-1);
    expect(last?.path).toBe("/hook?functionName=a&code=1&key9");
    expect(last?.headers["x-etagere-signature"]).toMatch(/^sha256=/);
    expect(receiver.handshakes).toHaveLength(1);
    const removed = await send("PATCH", hook, { body: { subjectEndsWith: null } });
    expect(removed.body["subjectEndsWith"]).toBeUndefined();
  });

  test("is possible with what a response shows, also of an odd URL", async () => {
    const destination = { webhook: `${receiver.url}/%zz` };
    const advancedFilters = [
      { operatorType: "NumberLessThan", key: "data.contentLength", value: 5 },
      { operatorType: "IsNotNull", key: "data.api" },
    ];
    const created = await send("PUT", hook, { body: { destination, advancedFilters } });
    expect(created).toMatchObject({ status: 201, body: { advancedFilters } });
    expect(created.body["destination"]).toMatchObject({ url: destination.webhook });
    const body = { advancedFilters: created.body["advancedFilters"] };
    expect(await send("PATCH", hook, { body })).toMatchObject({ status: 200, body });
  });

  test("of the URL keeps the secret, until null removes it", async () => {
    await create();
    const webhook = `${receiver.url}/moved`;
    const moved = await send("PATCH", hook, { body: { destination: { webhook } } });
    expect(moved.body["destination"]).toMatchObject({ url: webhook, isSigned: true });
    await upload("a");
    await admin.server.events.settled();
    const last = receiver.requests.at(-1);
    expect(last?.path).toBe("/moved");
    expect(last?.headers["x-etagere-signature"]).toMatch(/^sha256=/);
    const unsigned = await send("PATCH", hook, { body: { destination: { secret: null } } });
    expect(unsigned.body["destination"]).toMatchObject({ url: webhook, isSigned: false });
    const queued = await send("PATCH", hook, { body: { destination: { queue: "events" } } });
    expect(queued.body["destination"]).toEqual({ type: "queue", queue: "events" });
  });

  test("cannot name the queue of an account that does not exist", async () => {
    const destination = { queue: "events", account: "absent" };
    const refused = await send("PUT", hook, { body: { destination } });
    expect(refused).toMatchObject({ status: 404, body: { error: { code: "AccountNotFound" } } });
  });

  test("asks a new webhook first", async () => {
    await create();
    receiver.isWilling = false;
    const destination = { webhook: `${receiver.url}/other` };
    const refused = await send("PATCH", hook, { body: { destination } });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: "WebhookNotValidated" } },
    });
  });

  test("pauses the delivery; what is committed meanwhile is delivered later", async () => {
    await create();
    const paused = await send("PATCH", hook, { body: { isPaused: true } });
    expect(paused).toMatchObject({ status: 200, body: { isPaused: true } });
    await upload("a", "b", "a");
    // A replacement stays paused, and is not waited for.
    await create({ schema: "EventGridSchema" });
    await admin.server.events.settled();
    expect(await send("GET", hook)).toMatchObject({ body: { isPaused: true, backlog: 3 } });
    expect(delivered()).toEqual([]);
    await send("PATCH", hook, { body: { isPaused: false } });
    await admin.server.events.settled();
    expect(delivered().filter((name) => name === "a")).toHaveLength(2);
    expect(delivered()).toHaveLength(3);
  });

  test.each([
    [{ isPaused: 1 }, 400, "InvalidInput"],
    [{ colour: "red" }, 400, "InvalidInput"],
    [{ destination: { webhook: "http://203.0.113.1/" } }, 403, "WebhookNotListed"],
  ])("%o is rejected", async (body, status, code) => {
    await create();
    expect(await send("PATCH", hook, { body })).toMatchObject({
      status,
      body: { error: { code } },
    });
    const missing = await send("PATCH", `${account}/none`, { body: { isPaused: true } });
    expect(missing).toMatchObject({
      status: 404,
      body: { error: { code: "SubscriptionNotFound" } },
    });
  });
});

describe("the roles of a principal", () => {
  const toQueue = { destination: { queue: "events" } };

  test("let it see subscriptions, or change them", async () => {
    const [reader, changer] = [await logIn("reader"), await logIn("changer")];
    const body = toQueue;
    expect((await send("PUT", hook, { body, as: changer })).status).toBe(201);
    const listed = await send("GET", "", { as: reader });
    expect(listed.body["subscriptions"]).toMatchObject([{ account, name: "hook" }]);
    const refusal = { status: 403, body: { error: { code: "RoleRequired" } } };
    const pause = { isPaused: true };
    expect(await send("PUT", hook, { body, as: reader })).toMatchObject(refusal);
    expect(await send("PATCH", hook, { body: pause, as: reader })).toMatchObject(refusal);
    expect(await send("DELETE", hook, { as: reader })).toMatchObject(refusal);
    expect((await send("PATCH", hook, { body: pause, as: changer })).status).toBe(200);
    expect((await send("DELETE", hook, { as: changer })).status).toBe(204);
  });

  test("hide them without such a role, and from other accounts", async () => {
    const [other, changer] = [await logIn("other"), await logIn("changer")];
    const body = toQueue;
    expect((await send("PUT", hook, { body })).status).toBe(201);
    expect((await send("GET", "", { as: other })).body["subscriptions"]).toEqual([]);
    expect((await send("GET", hook, { as: other })).status).toBe(403);
    expect((await send("PUT", "another/hook", { body, as: changer })).status).toBe(404);
    const foreign = { destination: { queue: "events", account: "another" } };
    expect((await send("PUT", hook, { body: foreign, as: changer })).status).toBe(404);
    expect((await send("PATCH", hook, { body: foreign, as: changer })).status).toBe(404);
  });

  test("do not let other events into a queue of another account", async () => {
    const changer = await logIn("changer");
    const foreign = { destination: { queue: "events", account: "another" }, subjectEndsWith: "x" };
    expect((await send("PUT", hook, { body: foreign })).status).toBe(201);
    const wider = [{ subjectEndsWith: null }, { eventTypes: ["All"] }, { advancedFilters: [] }];
    for (const body of wider) {
      expect((await send("PATCH", hook, { body, as: changer })).status).toBe(404);
    }
    expect((await send("GET", hook)).body["subjectEndsWith"]).toBe("x");
    expect((await send("PATCH", hook, { body: { isPaused: true }, as: changer })).status).toBe(200);
    expect((await send("PATCH", hook, { body: toQueue, as: changer })).status).toBe(200);
  });
});
