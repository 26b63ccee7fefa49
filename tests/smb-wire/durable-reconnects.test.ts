import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { ContextName, encodeContexts } from "../../src/smb/wire/create.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient, type Handle } from "./wire-client.ts";
import { close, createBody, handleOf, write } from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("durable");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const batch = 9;
const create = 5;
const rounds = 40;
const ready = () => WireClient.ready(held.server.smbUrl, share);

function durableBody(file: string): Buffer {
  const context = { name: ContextName.durable, data: Buffer.alloc(16) };
  return createBody(file, { oplock: batch, contexts: encodeContexts([context]) });
}

function reconnectBody(file: string, { persistent, volatile }: Handle): Buffer {
  const data = new Writer(16).u64(persistent).u64(volatile).finish();
  const context = { name: ContextName.durableReconnect, data };
  return createBody(file, { oplock: batch, contexts: encodeContexts([context]) });
}

/** A durable handle whose client has lost its connection. */
async function lostHandle(file: string): Promise<Handle> {
  const client = await ready();
  const made = await client.ask(create, durableBody(file));
  expect(made.message.includes(ContextName.durable)).toBe(true);
  client.end();
  await client.closed;
  return handleOf(made);
}

it("a durable handle is reconnected", async () => {
  const lost = await lostHandle("kept.txt");
  const client = await ready();
  const back = await client.ask(create, reconnectBody("kept.txt", lost));
  expect(back.status).toBe(Status.success);
  expect((await write(client, handleOf(back), "still here")).status).toBe(Status.success);
  client.end();
});

it("a reconnected durable handle is valid while other opens run concurrently", async () => {
  const [owner, other] = [await ready(), await ready()];
  for (let round = 0; round < rounds; round += 1) {
    const file = `race-${round}.txt`;
    const lost = await lostHandle(file);
    // The open breaks the oplock, which closes the handle unless its client has reconnected.
    const opening = other.begin(create, createBody(file, { oplock: batch }));
    for (let at = 0; at < round % 8; at += 1) await new Promise((r) => setImmediate(r));
    const back = await owner.ask(create, reconnectBody(file, lost));
    if (back.status === Status.success) {
      const handle = handleOf(back);
      expect((await write(owner, handle, "mine")).status).toBe(Status.success);
      await close(owner, handle);
    }
    const opened = await opening.answer;
    expect(opened.status).toBe(Status.success);
    await close(other, handleOf(opened));
  }
  for (const client of [owner, other]) client.end();
});
