import { BlobServiceClient } from "@azure/storage-blob";
import { afterEach, beforeEach, expect, test } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { placeOf } from "../harness/test-store.ts";

let server: EtagereServer;

beforeEach(async () => {
  const accounts = { [developmentAccountName]: { changeFeed: true } };
  server = await start({ ...freePorts, noSmb: true, ...placeOf({}), accounts });
  await container().createIfNotExists();
});

afterEach(() => server.stop());

const container = () =>
  BlobServiceClient.fromConnectionString(server.connectionString).getContainerClient("box");

function open(query: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.adminUrl}/admin/v1/events?${query}`, {
    headers: { "x-etagere-admin": "1", ...headers },
  });
}

interface StreamedEvent {
  readonly id: string;
  readonly eventId: string;
  readonly name: string;
}

/** Reads events until there are `count`, then closes the stream. */
async function take(answer: Response, count: number): Promise<readonly StreamedEvent[]> {
  const found: StreamedEvent[] = [];
  let text = "";
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  while (found.length < count) {
    const { value = "", done } = await reader.read();
    if (done) throw new Error("the stream has ended");
    const blocks = (text + value).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1];
      const subject = /"subject":"[^"]*\/blobs\/([^"]*)"/.exec(block)?.[1];
      const isPosition = !/^event: /m.test(block);
      const [eventId = ""] = /(?<="id":")[^"]*/.exec(block) ?? [];
      if (id !== undefined && !isPosition) found.push({ id, eventId, name: subject ?? "" });
    }
  }
  await reader.cancel();
  return found.slice(0, count);
}

const account = `account=${developmentAccountName}`;

test("a stream has all events, in commit order, and continues after an id", async () => {
  const names = Array.from({ length: 300 }, (_, at) => `b${at}`);
  for (const name of names.slice(0, 290)) await container().uploadBlockBlob(name, "x", 1);
  const first = await take(await open(`${account}&after=0-0`), 250);
  expect(first.map(({ name }) => name)).toEqual(names.slice(0, 250));
  const last = first.at(-1)!.id;
  const continued = open(account, { "last-event-id": last });
  for (const name of names.slice(290)) await container().uploadBlockBlob(name, "x", 1);
  expect((await take(await continued, 50)).map(({ name }) => name)).toEqual(names.slice(250));
  const again = await take(await open(`${account}&after=${first[9]!.id}`), 3);
  expect(again.map(({ name }) => name)).toEqual(["b10", "b11", "b12"]);
});

test("a stream begins with its position, and continues after the id of an event", async () => {
  const reader = (await open(account)).body!.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  await reader.cancel();
  const position = /^id: (\d+-\d+)\n\n/.exec(value)?.[1];
  for (const name of ["a", "b", "c"]) await container().uploadBlockBlob(name, "x", 1);
  const events = await take(await open(`${account}&after=${position}`), 3);
  expect(events.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  const again = await take(await open(`${account}&after=${events[0]!.eventId}`), 2);
  expect(again.map(({ name }) => name)).toEqual(["b", "c"]);
});

test("without an id a stream begins now", async () => {
  await container().uploadBlockBlob("before", "x", 1);
  const answer = await open(account);
  await container().uploadBlockBlob("after", "x", 1);
  expect((await take(answer, 1)).map(({ name }) => name)).toEqual(["after"]);
});

test.each([
  ["", 400],
  ["account=none", 404],
  [`${account}&after=x`, 400],
  [`${account}&other=1`, 400],
])("?%s is answered %i", async (query, status) => {
  expect((await open(query)).status).toBe(status);
});

test("a Last-Event-ID that is no id is rejected", async () => {
  const answer = await open(account, { "last-event-id": "x" });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("Last-Event-ID must be the id of an event");
});
