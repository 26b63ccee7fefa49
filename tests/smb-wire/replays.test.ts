import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { ContextName, encodeContexts, encodeLease } from "../../src/smb/wire/create.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import {
  close,
  createBody,
  handleOf,
  lockBody,
  openFile,
  oplockOf,
  read,
  write,
  writeBody,
} from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("replays");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const ready = () => WireClient.ready(held.server.smbUrl, share);

/** A session with two channels. */
async function twoChannels(): Promise<readonly [WireClient, WireClient]> {
  const first = await ready();
  const second = await WireClient.open(held.server.smbUrl);
  second.clientGuid = first.clientGuid;
  await second.negotiate();
  await second.join(first);
  return [first, second];
}

const batch = 9;
const leaseLevel = 0xff;
const replay = { flags: 0x2000_0000 };
const create = 5;
const writeCommand = 9;

function guidContext(name: number) {
  const data = Buffer.concat([Buffer.alloc(16), Buffer.alloc(16, name)]);
  return { name: ContextName.durable2, data };
}

function leaseContext(key: number, state: number) {
  const parentKey = Buffer.alloc(16);
  return encodeLease({
    key: Buffer.alloc(16, key),
    state,
    flags: 0,
    version: 2,
    parentKey,
    epoch: 0,
  });
}

function body(file: string, guid: number, oplock: number): Buffer {
  return createBody(file, { oplock, contexts: encodeContexts([guidContext(guid)]) });
}

function leasedBody(file: string, guid: number, state: number): Buffer {
  const contexts = encodeContexts([guidContext(guid), leaseContext(7, state)]);
  return createBody(file, { oplock: leaseLevel, contexts });
}

const isDurable = ({ message }: { message: Buffer }) => message.includes(ContextName.durable2);

function leaseStateOf({ message }: { message: Buffer }): number {
  return message.readUInt32LE(message.indexOf(ContextName.lease) + 8 + 16);
}

describe("a replayed CREATE", () => {
  it("returns the same handle until the client has used it", async () => {
    const [first, second] = await twoChannels();
    const asked = body("once.txt", 1, 0);
    const made = await first.ask(create, asked);
    expect((await second.ask(create, asked)).status).toBe(Status.duplicateObjectId);
    const again = await second.ask(create, asked, replay);
    expect(again.status).toBe(Status.success);
    expect(handleOf(again)).toEqual(handleOf(made));
    expect((await write(second, handleOf(again), "used")).status).toBe(Status.success);
    const later = await first.ask(create, asked, replay);
    expect(later.status).toBe(Status.success);
    expect(handleOf(later)).not.toEqual(handleOf(made));
    first.end();
    second.end();
  });

  it("returns the requested oplock, but at most the granted one", async () => {
    const [first, second] = await twoChannels();
    const ask = async (oplock: number) => first.ask(create, body("level.txt", 2, oplock), replay);
    const made = await ask(batch);
    expect([oplockOf(made), isDurable(made)]).toEqual([batch, true]);
    const without = await ask(0);
    expect([oplockOf(without), isDurable(without)]).toEqual([0, false]);
    const withIt = await ask(batch);
    expect([oplockOf(withIt), isDurable(withIt)]).toEqual([batch, true]);
    expect(handleOf(withIt)).toEqual(handleOf(made));
    const other = await ready();
    const opening = other.ask(create, createBody("level.txt"));
    await first.noticed(1);
    const breaking = await ask(batch);
    expect([oplockOf(breaking), isDurable(breaking)]).toEqual([1, false]);
    await close(first, handleOf(made));
    expect((await opening).status).toBe(Status.success);
    for (const client of [first, second, other]) client.end();
  });

  it("returns the current lease state", async () => {
    const [first, second] = await twoChannels();
    const made = await first.ask(create, leasedBody("leased.txt", 3, 3));
    expect(leaseStateOf(made)).toBe(3);
    await first.ask(create, leasedBody("leased.txt", 4, 7));
    const again = await second.ask(create, leasedBody("leased.txt", 3, 1), replay);
    expect(again.status).toBe(Status.success);
    expect(handleOf(again)).toEqual(handleOf(made));
    expect([leaseStateOf(again), isDurable(again)]).toEqual([7, true]);
    const plain = await second.ask(create, body("leased.txt", 3, batch), replay);
    expect(plain.status).toBe(Status.accessDenied);
    first.end();
    second.end();
  });
});

describe("a pending CREATE whose connection is lost", () => {
  it("continues if its session has another channel", async () => {
    const holder = await ready();
    const kept = await openFile(holder, "awaited.txt", { oplock: batch });
    const [first, second] = await twoChannels();
    const asked = body("awaited.txt", 5, 0);
    first.begin(create, asked);
    await first.interim(1);
    first.end();
    await first.closed;
    const early = await second.ask(create, asked, replay);
    expect(early.status).toBe(Status.fileNotAvailable);
    expect((await second.ask(create, asked)).status).toBe(Status.fileNotAvailable);
    await close(holder, kept);
    let late = await second.ask(create, asked, replay);
    for (let tries = 0; tries < 10_000 && late.status === Status.fileNotAvailable; tries += 1) {
      late = await second.ask(create, asked, replay);
    }
    expect(late.status).toBe(Status.success);
    await close(second, handleOf(late));
    // Both responses were of one open: none is left.
    await close(holder, await openFile(holder, "awaited.txt", { share: 0 }));
    holder.end();
    second.end();
  });

  it("is cancelled with the last channel of its session", async () => {
    const holder = await ready();
    const kept = await openFile(holder, "dropped.txt", { oplock: batch });
    const [first, second] = await twoChannels();
    first.begin(create, body("dropped.txt", 6, 0));
    await first.interim(1);
    for (const client of [first, second]) {
      client.end();
      await client.closed;
    }
    await close(holder, kept);
    const later = await ready();
    await close(later, await openFile(later, "dropped.txt", { share: 0 }));
    later.end();
    holder.end();
  });
});

describe("a replayed change", () => {
  it("is rejected while requests with an older ChannelSequence run", async () => {
    const [first, second] = await twoChannels();
    const other = await ready();
    const locked = await openFile(other, "counted.txt");
    const lock = { at: 100, length: 1, flags: 0x2 };
    await other.ask(10, lockBody(locked, lock));
    const file = await openFile(first, "counted.txt");
    const waiting = first.begin(10, lockBody(file, lock));
    const interim = await first.interim(1);
    const say = (text: string) =>
      second.ask(writeCommand, writeBody(file, text), { ...replay, channelSequence: 1 });
    expect((await say("early")).status).toBe(Status.fileNotAvailable);
    expect((await read(second, file, 5)).status).toBe(Status.endOfFile);
    first.cancel(interim.asyncId, waiting.messageId);
    expect((await waiting.answer).status).toBe(Status.cancelled);
    expect((await say("later")).status).toBe(Status.success);
    expect((await read(second, file, 5)).text).toBe("later");
    for (const client of [first, second, other]) client.end();
  });
});
