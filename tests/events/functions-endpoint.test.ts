import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterAll, beforeAll, expect, test } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { placeOf } from "../harness/test-store.ts";

/** The blob endpoint of the Functions host, as far as its documentation describes it: it needs the
 *  name of a function and the key of the extension, answers the validation event, and accepts
 *  notifications with 202.
 *  learn.microsoft.com/azure/azure-functions/functions-event-grid-blob-trigger */
const functionName = "Host.Functions.Thumbnail";
const systemKey = "key-of-the-blobs-extension";
const triggered: string[] = [];

function serveFunctions(message: IncomingMessage, response: ServerResponse): void {
  const url = new URL(message.url ?? "", "http://host");
  const chunks: Buffer[] = [];
  message.on("data", (chunk: Buffer) => chunks.push(chunk));
  message.on("end", () => {
    response.statusCode = statusOf(url, message);
    if (response.statusCode !== 202) return void response.end();
    const events = JSON.parse(Buffer.concat(chunks).toString()) as readonly FunctionsEvent[];
    const [first] = events;
    if (message.headers["aeg-event-type"] === "SubscriptionValidation") {
      response.statusCode = 200;
      return void response.end(JSON.stringify({ validationResponse: first?.data.validationCode }));
    }
    const created = events.filter(({ eventType }) => eventType === "Microsoft.Storage.BlobCreated");
    triggered.push(...created.map(({ data }) => new URL(data.url ?? "").pathname));
    return void response.end();
  });
}

interface FunctionsEvent {
  readonly eventType: string;
  readonly data: { readonly validationCode?: string; readonly url?: string };
}

function statusOf(url: URL, { method }: IncomingMessage): number {
  if (method !== "POST" || url.pathname !== "/runtime/webhooks/blobs") return 404;
  if (url.searchParams.get("code") !== systemKey) return 401;
  return url.searchParams.get("functionName") === functionName ? 202 : 404;
}

const host = createServer(serveFunctions);
let server: EtagereServer;
let base: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(host.address() as AddressInfo).port}/runtime/webhooks/blobs`;
  server = await start({ ...freePorts, noSmb: true, ...placeOf({}), eventWebhooks: base });
});

afterAll(async () => {
  await server.stop();
  host.closeAllConnections();
  host.close();
});

function put(webhook: string): Promise<Response> {
  return fetch(`${server.adminUrl}/admin/v1/subscriptions/${developmentAccountName}/function`, {
    method: "PUT",
    headers: { "x-etagere-admin": "1", "content-type": "application/json" },
    body: JSON.stringify({
      destination: { webhook },
      eventTypes: ["Microsoft.Storage.BlobCreated"],
      subjectBeginsWith: "/blobServices/default/containers/photos/",
    }),
  });
}

test("the blob endpoint of the Functions host is a destination", async () => {
  const query = `functionName=${functionName}`;
  expect((await put(`${base}?${query}&code=wrong`)).status).toBe(400);
  const created = await put(`${base}?${query}&code=${systemKey}`);
  expect(created.status).toBe(201);
  expect(await created.text()).not.toContain(systemKey);
  const service = BlobServiceClient.fromConnectionString(server.connectionString);
  for (const name of ["photos", "others"]) {
    const { containerClient } = await service.createContainer(name);
    await containerClient.uploadBlockBlob("a b.jpg", "jpg", 3);
    await containerClient.deleteBlob("a b.jpg");
  }
  await server.events.settled();
  expect(triggered).toEqual([`/${developmentAccountName}/photos/a%20b.jpg`]);
});
