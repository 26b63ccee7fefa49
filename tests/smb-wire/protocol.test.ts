import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import {
  Access,
  acknowledgeOplock,
  close,
  createBody,
  handleOf,
  lockBody,
  notifyBody,
  openFile,
  oplockOf,
  read,
  setDeletePending,
  write,
} from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("smb");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const ready = () => WireClient.ready(held.server.smbUrl, share);
const exclusive = 2;
const failImmediately = 0x10;
const unlock = 4;

describe("a session", () => {
  it("is rejected for a wrong key and unknown accounts, and granted to the account", async () => {
    const client = await WireClient.open(held.server.smbUrl);
    await client.negotiate();
    expect((await client.logIn("devstoreaccount1", "wrong")).status).toBe(Status.logonFailure);
    client.sessionId = 0n;
    expect((await client.logIn("unknown")).status).toBe(Status.logonFailure);
    client.end();
    const other = await ready();
    expect(other.treeId).toBeGreaterThan(0);
    other.end();
  });

  it("ends with the connection if a request precedes NEGOTIATE", async () => {
    const client = await WireClient.open(held.server.smbUrl);
    client.begin(13, Buffer.from([4, 0, 0, 0]));
    await client.closed;
  });

  it("ends with the connection if a message id is used twice", async () => {
    const client = await ready();
    const echo = Buffer.from([4, 0, 0, 0]);
    client.sendRaw(client.encode(13, echo, { messageId: 1n }));
    await client.closed;
  });

  it("rejects an unknown share and an invalid signature", async () => {
    const client = await ready();
    expect((await client.connectTo("nosuchshare")).status).toBe(Status.badNetworkName);
    client.treeId = 1;
    const answer = await client.ask(5, createBody("x"), { sessionId: client.sessionId + 1n });
    expect(answer.status).toBe(Status.userSessionDeleted);
    client.end();
  });
});

describe("handles", () => {
  it("write what other handles read at once", async () => {
    const [one, two] = [await ready(), await ready()];
    const mine = await openFile(one, "seen.txt");
    const theirs = await openFile(two, "SEEN.TXT");
    expect((await write(one, mine, "hello")).status).toBe(Status.success);
    expect(await read(two, theirs, 10)).toEqual({ status: 0, text: "hello" });
    await close(one, mine);
    expect((await write(one, mine, "x")).status).toBe(Status.fileClosed);
    one.end();
    two.end();
  });

  it("deny access they do not share until they are closed", async () => {
    const [one, two] = [await ready(), await ready()];
    const mine = await openFile(one, "alone.txt", { access: Access.write, share: 0 });
    const asked = createBody("alone.txt", { access: Access.read });
    expect((await two.ask(5, asked)).status).toBe(Status.sharingViolation);
    const look = createBody("alone.txt", { access: Access.look });
    expect((await two.ask(5, look)).status).toBe(Status.success);
    await close(one, mine);
    expect((await two.ask(5, asked)).status).toBe(Status.success);
    one.end();
    two.end();
  });

  it("are closed when the connection is lost", async () => {
    const one = await ready();
    await openFile(one, "lost.txt", { share: 0 });
    one.end();
    await one.closed;
    const two = await ready();
    await expect
      .poll(async () => (await two.ask(5, createBody("lost.txt"))).status)
      .toBe(Status.success);
    two.end();
  });
});

describe("byte-range locks", () => {
  it("wait in order and can be cancelled", async () => {
    const [one, two] = [await ready(), await ready()];
    const mine = await openFile(one, "ranges.txt");
    const theirs = await openFile(two, "ranges.txt");
    const now = { at: 0, length: 10, flags: exclusive | failImmediately };
    const later = { at: 5, length: 10, flags: exclusive };
    expect((await one.ask(10, lockBody(mine, now))).status).toBe(Status.success);
    expect((await two.ask(10, lockBody(theirs, now))).status).toBe(Status.lockNotGranted);
    expect((await write(two, theirs, "x", 3)).status).toBe(Status.fileLockConflict);

    const given = two.begin(10, lockBody(theirs, later));
    await two.interim(1);
    await one.ask(10, lockBody(mine, { at: 0, length: 10, flags: unlock }));
    expect((await given.answer).status).toBe(Status.success);

    const waits = one.begin(10, lockBody(mine, later));
    const { asyncId } = await one.interim(1);
    one.cancel(asyncId, waits.messageId);
    expect((await waits.answer).status).toBe(Status.cancelled);
    one.end();
    two.end();
  });
});

describe("a delete disposition", () => {
  it("takes effect with the last close and can be cleared before", async () => {
    const [one, two] = [await ready(), await ready()];
    const mine = await openFile(one, "going.txt");
    const theirs = await openFile(two, "going.txt");
    await setDeletePending(one, mine, true);
    const again = createBody("going.txt");
    expect((await two.ask(5, again)).status).toBe(Status.deletePending);
    await setDeletePending(one, mine, false);
    const third = await two.ask(5, again);
    expect(third.status).toBe(Status.success);
    await close(two, handleOf(third));
    await setDeletePending(one, mine, true);
    await close(one, mine);
    expect((await two.ask(5, again)).status).toBe(Status.deletePending);
    await close(two, theirs);
    const gone = createBody("going.txt", { disposition: 1 });
    expect((await two.ask(5, gone)).status).toBe(Status.objectNameNotFound);
    one.end();
    two.end();
  });
});

describe("caching grants", () => {
  it("are broken by the next open, which waits for the acknowledgement", async () => {
    const [one, two] = [await ready(), await ready()];
    const batch = 9;
    const opened = await one.ask(5, createBody("cached.txt", { oplock: batch }));
    expect(oplockOf(opened)).toBe(batch);
    const second = two.begin(5, createBody("cached.txt", { oplock: batch }));
    const [notice] = await one.noticed(1);
    expect(notice?.message[66]).toBe(1);
    await acknowledgeOplock(one, handleOf(opened), 1);
    const answer = await second.answer;
    expect([answer.status, oplockOf(answer)]).toEqual([Status.success, 1]);
    one.end();
    two.end();
  });
});

describe("CHANGE_NOTIFY", () => {
  it("reports added and removed names", async () => {
    const [one, two] = [await ready(), await ready()];
    const directory = await openFile(one, "watched", { options: 1 });
    const waiting = one.begin(15, notifyBody(directory));
    await one.interim(1);
    await close(two, await openFile(two, "watched\\new.txt"));
    const { status, message } = await waiting.answer;
    expect(status).toBe(Status.success);
    const name = message.subarray(72 + 12).toString("utf16le");
    expect([message.readUInt32LE(72 + 4), name]).toEqual([1, "new.txt"]);
    one.end();
    two.end();
  });
});

describe("a security descriptor", () => {
  const ask = async (access: number, parts: number) => {
    const client = await ready();
    const { persistent, volatile } = await openFile(client, "described.txt", { access });
    const body = new Writer()
      .u16(41)
      .u8(3)
      .u8(0)
      .u32(4096)
      .u16(0)
      .u16(0)
      .u32(0)
      .u32(parts)
      .u32(0)
      .u64(persistent)
      .u64(volatile)
      .zeros(1);
    const answer = await client.ask(16, body.finish());
    client.end();
    return { status: answer.status, bytes: answer.message.subarray(72) };
  };

  it("without any parts requires no access right and is empty", async () => {
    const { status, bytes } = await ask(Access.look, 0);
    expect(status).toBe(Status.success);
    expect(bytes.toString("hex")).toBe(`01000080${"00".repeat(16)}`);
    for (const part of [1, 2, 4]) {
      expect((await ask(Access.look, part)).status).toBe(Status.accessDenied);
    }
  });

  it("contains only the requested parts", async () => {
    const whole = await ask(Access.read, 7);
    const owner = await ask(Access.read, 1);
    expect(whole.bytes.readUInt32LE(16)).toBeGreaterThan(0);
    expect(owner.bytes.readUInt32LE(4)).toBe(20);
    expect(owner.bytes.subarray(8, 20)).toEqual(Buffer.alloc(12));
    expect(owner.bytes.length).toBe(20 + 8 + owner.bytes[21]! * 4);
  });
});
