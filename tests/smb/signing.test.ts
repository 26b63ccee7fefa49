import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { testServer } from "../harness/server.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { lockBody, openFile, readBody, write } from "../smb-wire/wire-messages.ts";
import { smbclient } from "./run-smbclient.ts";

const strict = testServer();
const relaxed = testServer({ smbSigning: "optional" });

beforeAll(async () => {
  for (const { server } of [strict, relaxed]) {
    const service = ShareServiceClient.fromConnectionString(server.connectionString);
    await service.getShareClient("share").create();
  }
});

const echo = 13;
const nothing = Buffer.from([4, 0, 0, 0]);
const unsigned = { signs: false };

/** The SecurityMode of a NEGOTIATE response. */
async function securityMode(smbUrl: string): Promise<number> {
  const client = await WireClient.open(smbUrl);
  const { message } = await client.negotiate();
  client.end();
  return message.readUInt16LE(66);
}

describe("a server that requires signatures", () => {
  const ready = () => WireClient.ready(strict.server.smbUrl, "share");

  it("announces it and rejects unsigned requests", async () => {
    expect(await securityMode(strict.server.smbUrl)).toBe(3);
    const client = await ready();
    const file = await openFile(client, "signed.txt");
    await write(client, file, "x");
    const read = readBody(file, 1);
    expect((await client.ask(8, read, unsigned)).status).toBe(Status.accessDenied);
    expect((await client.ask(8, read)).status).toBe(Status.success);
    client.end();
  });

  it("signs its responses", async () => {
    const client = await ready();
    const { flags, message } = await client.ask(echo, nothing);
    expect(flags & 8).toBe(8);
    expect(message.subarray(48, 64)).not.toEqual(Buffer.alloc(16));
    client.end();
  });

  it("signs for an ended session, and echoes the flag if it has no key", async () => {
    const client = await ready();
    const file = await openFile(client, "left.txt");
    const lock = { at: 0, length: 1, flags: 2 };
    await client.ask(10, lockBody(file, lock));
    const other = await openFile(client, "left.txt");
    const waiting = client.begin(10, lockBody(other, lock));
    await client.interim(1);
    expect((await client.ask(2, nothing)).status).toBe(Status.success);
    const late = await waiting.answer;
    expect([late.status, late.flags & 8]).toEqual([Status.rangeNotLocked, 8]);
    expect(late.message.subarray(48, 64)).not.toEqual(Buffer.alloc(16));
    const stranger = await client.ask(8, readBody(file, 1), { sessionId: client.sessionId + 1n });
    expect([stranger.status, stranger.flags & 8]).toEqual([Status.userSessionDeleted, 8]);
    client.end();
  });

  it("ignores an unsigned CANCEL", async () => {
    const client = await ready();
    const file = await openFile(client, "awaited.txt");
    const lock = { at: 0, length: 1, flags: 2 };
    await client.ask(10, lockBody(file, lock));
    const other = await openFile(client, "awaited.txt");
    const waiting = client.begin(10, lockBody(other, lock));
    const { asyncId } = await client.interim(1);
    const { messageId } = waiting;
    client.sendRaw(client.encode(12, nothing, { messageId, asyncId, ...unsigned }));
    // The response follows the request before it, so that one had no effect.
    await client.ask(echo, nothing);
    await client.ask(10, lockBody(file, { ...lock, flags: 4 }));
    expect((await waiting.answer).status).toBe(Status.success);
    client.end();
  });

  it.each([
    ["by default", []],
    ["with SMB 2.1", ["-m", "SMB2_10", "--option=client min protocol=SMB2_10"]],
    ["with SMB 3.0", ["-m", "SMB3_00"]],
    ["encrypted", ["--client-protection=encrypt"]],
  ])("serves smbclient %s", async (_how, words) => {
    const { smbUrl } = strict.server;
    expect(await smbclient({ smbUrl, share: "share" }, "ls", ...words)).toContain("blocks of size");
  });
});

describe("a server with optional signing", () => {
  it("announces it and accepts unsigned requests", async () => {
    expect(await securityMode(relaxed.server.smbUrl)).toBe(1);
    const client = await WireClient.ready(relaxed.server.smbUrl, "share");
    const file = await openFile(client, "plain.txt");
    await write(client, file, "x");
    const { status, flags } = await client.ask(8, readBody(file, 1), unsigned);
    expect([status, flags & 8]).toEqual([Status.success, 0]);
    client.end();
  });
});
