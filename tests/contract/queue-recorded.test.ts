import {
  QueueServiceClient,
  StorageSharedKeyCredential,
  type RestError,
} from "@azure/storage-queue";
import { beforeEach, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { messageBody, QueueCalls } from "../harness/queue-messages.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { freshName, testServer } from "../harness/server.ts";
import { simQueue, type SimQueue } from "../harness/sim-queue.ts";

/** Facts from recordings of the service, one row each. */

let sim: SimQueue;

beforeEach(async () => {
  sim = await simQueue();
  await new QueueCalls(sim, "orders").create();
});

const unusedId = "01234567-89ab-4cde-8f01-23456789abcd";
const unknownReceipt = encodeURIComponent(Buffer.alloc(20, 2).toString("base64"));

const outOfRange =
  "One of the query parameters specified in the request URI is outside the permissible range.";
const invalid = "Value for one of the query parameters specified in the request URI is invalid.";

const put = (query: string): RawCall => ({
  method: "POST",
  path: `/orders/messages?${query}`,
  body: messageBody("a"),
});
const get = (query: string): RawCall => ({ method: "GET", path: `/orders/messages?${query}` });
const remove = (id: string, receipt: string): RawCall => ({
  method: "DELETE",
  path: `/orders/messages/${id}?popreceipt=${receipt}`,
});
const update = (id: string, receipt: string): RawCall => ({
  method: "PUT",
  path: `/orders/messages/${id}?popreceipt=${receipt}&visibilitytimeout=0`,
  body: messageBody("a"),
});

interface Row {
  readonly fact: string;
  readonly call: RawCall;
  readonly status: number;
  readonly code?: string;
  readonly texts?: readonly string[];
}

const malformed = {
  status: 400,
  code: "InvalidQueryParameterValue",
  texts: [invalid, "<Reason>Invalid pop receipt format</Reason>"],
};
const notFound = { status: 404, code: "MessageNotFound" };

const receipts: readonly Row[] = [
  { fact: "delete, malformed, no message", call: remove(unusedId, "nonsense"), ...malformed },
  { fact: "update, malformed, no message", call: update(unusedId, "nonsense"), ...malformed },
  { fact: "delete, unknown, no message", call: remove(unusedId, unknownReceipt), ...notFound },
  { fact: "update, unknown, no message", call: update(unusedId, unknownReceipt), ...notFound },
  { fact: "delete, malformed, id is no GUID", call: remove("no-guid", "nonsense"), ...notFound },
  { fact: "update, malformed, id is no GUID", call: update("no-guid", "nonsense"), ...notFound },
];

const range = { status: 400, code: "OutOfRangeQueryParameterValue" };
const bounds = (min: number, max: number) => [
  outOfRange,
  `<MinimumAllowed>${min}</MinimumAllowed><MaximumAllowed>${max}</MaximumAllowed>`,
];

const visibility: readonly Row[] = [
  {
    fact: "put below 0",
    call: put("visibilitytimeout=-1"),
    ...range,
    texts: bounds(0, 604_800),
  },
  {
    fact: "put over a week",
    call: put("visibilitytimeout=604801"),
    ...range,
    texts: bounds(0, 604_800),
  },
  { fact: "get of 0", call: get("visibilitytimeout=0"), ...range, texts: bounds(1, 604_800) },
  { fact: "get of 100 messages", call: get("numofmessages=100"), ...range, texts: bounds(1, 32) },
  {
    fact: "put that expires before it is visible",
    call: put("visibilitytimeout=30&messagettl=30"),
    status: 400,
    code: "InvalidQueryParameterValue",
    texts: [invalid, "<Reason>messagettl must be greater than visibilitytimeout</Reason>"],
  },
];

describe.each([
  ["pop receipt", receipts],
  ["visibility timeout", visibility],
])("%s", (_, rows) => {
  it.each(rows)("$fact is $status $code", async ({ call, status, code, texts }) => {
    const answer = await sim.send(call);
    expect(answer).toMatchObject({ status, code });
    for (const text of texts ?? []) expect(answer.body).toContain(text);
  });
});

describe("permissions of a stored policy", () => {
  const held = testServer();

  it.each([
    ["raup", 204, undefined],
    ["", 204, undefined],
    ["rwd", 400, "InvalidXmlDocument"],
    ["raupl", 400, "InvalidXmlDocument"],
    ["r a", 400, "InvalidXmlDocument"],
  ])("'%s' is %d %s", async (permissions, status, code) => {
    const client = new QueueServiceClient(
      `${held.server.urls.queue}/${developmentAccountName}`,
      new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey),
      { retryOptions: { maxTries: 1 } },
    ).getQueueClient(freshName("queue"));
    await client.create();
    const policies = [{ id: "a", accessPolicy: { permissions } }];
    const outcome = await client.setAccessPolicy(policies).then(
      ({ _response }) => ({ status: _response.status, code: undefined }),
      ({ statusCode, code: refusal }: RestError) => ({ status: statusCode, code: refusal }),
    );
    expect(outcome).toEqual({ status, code });
    expect((await client.getAccessPolicy()).signedIdentifiers).toHaveLength(status === 204 ? 1 : 0);
  });
});

describe("x-ms-client-request-id", () => {
  const path = "/orders/messages";
  it.each<[string, number, RawCall]>([
    ["a read", 200, { method: "GET", path }],
    ["a write", 201, put("")],
    ["a refused parameter", 400, get("numofmessages=100")],
    ["a missing queue", 404, { method: "GET", path: "/missing/messages" }],
    ["a malformed URI", 400, { method: "GET", path: "/orders/%ff" }],
    ["a malformed version", 400, { method: "GET", path, headers: { "x-ms-version": "x" } }],
    ["an old version", 200, { method: "GET", path, headers: { "x-ms-version": "2018-11-09" } }],
  ])("is returned by %s (%d)", async (_, status, call) => {
    const headers = { ...call.headers, "x-ms-client-request-id": "mine" };
    const answer = await sim.send({ ...call, headers });
    expect(answer.status).toBe(status);
    expect(answer.headers["x-ms-client-request-id"]).toBe("mine");
  });

  it("is returned with a rejected signature", async () => {
    const headers = { authorization: "SharedKey a:b", "x-ms-client-request-id": "mine" };
    const answer = await sim.sendAs({ method: "GET", path, headers });
    expect(answer.status).toBe(403);
    expect(answer.headers["x-ms-client-request-id"]).toBe("mine");
  });
});
