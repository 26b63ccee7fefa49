import { afterAll, beforeAll, expect, it } from "vitest";
import { rawClient } from "../harness/raw-client.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { openFile, readBody, writeBody } from "../smb-wire/wire-messages.ts";
import { startStallServer, type StallServer } from "./loop-stall.ts";
import { newShare } from "./smb-crowd.ts";

const mebibyte = 1024 * 1024;
const messageBytes = 8 * mebibyte;
const charge = messageBytes / 65_536;
const [echo, read, write] = [13, 8, 9];
const nothing = Buffer.from([4, 0, 0, 0]);

let server: StallServer;
let share = "";

beforeAll(async () => {
  server = await startStallServer();
  share = await newShare(server);
});
afterAll(() => server.stop());

async function withCredits(): Promise<WireClient> {
  const client = await WireClient.ready(server.urls.smb, share);
  for (let count = 0; count < 16; count += 1) await client.ask(echo, nothing, { credits: 512 });
  return client;
}

it("responses that clients do not read take a bounded amount of memory", async () => {
  const writer = await withCredits();
  const file = await openFile(writer, "large");
  const bytes = writeBody(file, "x".repeat(messageBytes));
  expect((await writer.ask(write, bytes, { charge })).status).toBe(0);
  const clients = await Promise.all(Array.from({ length: 6 }, withCredits));
  const { residentBytes } = await server.measure(async () => {
    for (const client of clients) {
      const handle = await openFile(client, "large");
      client.stopReading();
      for (let count = 0; count < 50; count += 1) {
        client.begin(read, readBody(handle, messageBytes), { charge });
      }
    }
    // A client that reads its responses is served meanwhile.
    const small = await writer.ask(read, readBody(file, 100));
    expect(small.status).toBe(0);
  });
  expect(residentBytes).toBeLessThan(700 * mebibyte);
  for (const client of clients) client.end();
  expect((await writer.ask(read, readBody(file, messageBytes), { charge })).status).toBe(0);
  writer.end();
});

it("announced messages that do not arrive take no memory from other clients", async () => {
  const clients = await Promise.all(
    Array.from({ length: 40 }, () => WireClient.ready(server.urls.smb, share)),
  );
  for (const client of clients) client.announce(messageBytes);
  const blob = rawClient(server.urls.blob);
  const answer = await blob.send({
    method: "POST",
    path: "/?comp=batch",
    headers: { "content-type": "multipart/mixed; boundary=b" },
    body: Buffer.alloc(4 * mebibyte - 1024, "x"),
  });
  expect(answer.status).toBe(400);
  for (const client of clients) client.end();
});
