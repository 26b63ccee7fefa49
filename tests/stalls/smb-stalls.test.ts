import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Writer } from "../../src/smb/wire/writer.ts";
import { Status } from "../../src/smb/status.ts";
import { rawClient } from "../harness/raw-client.ts";
import { WireClient, type Handle } from "../smb-wire/wire-client.ts";
import { closeBody, notifyBody, openFile, readBody, write } from "../smb-wire/wire-messages.ts";
import { stallMillisecondsMax, startStallServer, type StallServer } from "./loop-stall.ts";
import { disperse, gather, newShare, openMany } from "./smb-crowd.ts";

let server: StallServer;
let share = "";

beforeAll(async () => {
  server = await startStallServer();
  share = await newShare(server);
});
afterAll(() => server.stop());

const ready = () => WireClient.ready(server.urls.smb, share);
const nothing = Buffer.from([4, 0, 0, 0]);
const [treeDisconnect, logoff, lock, echo, queryDirectory, changeNotify] = [4, 2, 10, 13, 14, 15];
const deleteOnClose = 0x1000;
const directory = { access: 0x0012_0089, options: 1, disposition: 1 };

async function expectNoStall(action: () => Promise<unknown>): Promise<void> {
  const { milliseconds, residentBytes } = await server.measure(action);
  expect(milliseconds).toBeLessThan(stallMillisecondsMax);
  expect(residentBytes).toBeLessThan(600 * 1024 * 1024);
}

/** Created by the first test. */
const files = 2000;

describe("closing many handles", () => {
  it("does not block the event loop when the connections of a session are lost", async () => {
    const crowd = await gather(server, share);
    await openMany(crowd, 2 * files, (index) => ({ name: `f${index % files}` }));
    await expectNoStall(async () => disperse(crowd));
    const client = await ready();
    await openFile(client, "f1", { share: 0 });
    client.end();
  });

  it("does not block the event loop on TREE_DISCONNECT", async () => {
    const crowd = await gather(server, share);
    const handles = await openMany(crowd, files, (index) => ({ name: `f${index}` }));
    const [client] = crowd.channels;
    await expectNoStall(() => client!.ask(treeDisconnect, nothing));
    await client!.connectTo(share);
    expect((await client!.ask(6, closeBody(handles[7]!))).status).toBe(Status.fileClosed);
    disperse(crowd);
  });
});

describe("many handles of one file", () => {
  it("receive a break and are closed without blocking the event loop", async () => {
    const crowd = await gather(server, share);
    await openMany(crowd, 600, () => ({ name: "shared", oplock: 1 }));
    const client = await ready();
    const file = await openFile(client, "shared");
    await expectNoStall(() => write(client, file, "new"));
    const notices = crowd.channels.map(({ notices: heard }) => heard.length);
    expect(notices.reduce((sum, count) => sum + count, 0)).toBe(600);
    await expectNoStall(async () => disperse(crowd));
    client.end();
  });

  it("watch a directory without blocking the event loop", async () => {
    const crowd = await gather(server, share);
    const handles = await openMany(crowd, 640, () => ({ name: "", ...directory }));
    for (const [index, handle] of handles.entries()) {
      crowd.channels[index % crowd.channels.length]!.begin(changeNotify, notifyBody(handle));
    }
    for (const channel of crowd.channels) await channel.interim(640 / crowd.channels.length);
    const client = await ready();
    await expectNoStall(() => openFile(client, "noticed"));
    await expectNoStall(async () => disperse(crowd));
    client.end();
  });
});

describe("many ranges of one file", () => {
  function lockList({ persistent, volatile }: Handle, flags: number, places: readonly number[]) {
    const body = new Writer().u16(48).u16(places.length).u32(0).u64(persistent).u64(volatile);
    for (const place of places) body.u64(BigInt(place)).u64(1n).u32(flags).u32(0);
    return body.finish();
  }
  const places = Array.from({ length: 9999 }, (_, index) => (index * 7) % 9999);

  it("are locked, read and unlocked without blocking the event loop", async () => {
    const client = await ready();
    await client.ask(echo, nothing, { credits: 500 });
    const file = await openFile(client, "locked");
    await write(client, file, "x".repeat(10));
    const ask = async (flags: number, list: readonly number[]) =>
      client.ask(lock, lockList(file, flags, list), { charge: 4, credits: 8 });
    await expectNoStall(async () => expect((await ask(0x12, places)).status).toBe(0));
    const reads = Array.from({ length: 100 }, () => readBody(file, 1));
    await expectNoStall(() => Promise.all(reads.map((body) => client.ask(8, body))));
    const get = { method: "GET", path: `/${share}/locked` };
    await expectNoStall(async () => {
      expect((await rawClient(server.urls.file).send(get)).status).toBe(409);
    });
    await expectNoStall(async () => {
      expect((await ask(4, [...places.toReversed(), 0])).status).toBe(Status.rangeNotLocked);
    });
    client.end();
  });
});

describe("many requests at once", () => {
  async function withCredits(): Promise<WireClient> {
    const client = await ready();
    for (let count = 0; count < 12; count += 1) await client.ask(echo, nothing, { credits: 500 });
    return client;
  }

  async function flood(client: WireClient, command: number, body: Buffer): Promise<void> {
    const messages = Array.from({ length: 5000 }, () => client.prepare(command, body));
    await expectNoStall(async () => {
      for (const { send } of messages) send();
      await Promise.all(messages.map(({ answer }) => answer));
    });
  }

  it("do not block the event loop if they are ECHO", async () => {
    const client = await withCredits();
    await flood(client, echo, nothing);
    client.end();
  });

  it("do not block the event loop if they are READ", async () => {
    const client = await withCredits();
    const file = await openFile(client, "read-often");
    await write(client, file, "x".repeat(100));
    await flood(client, 8, readBody(file, 100));
    client.end();
  });
});

describe("a large directory", () => {
  const entryBytesMin = 104;

  it("is searched and listed without blocking the event loop", async () => {
    const client = await ready();
    for (let count = 0; count < 4; count += 1) await client.ask(echo, nothing, { credits: 500 });
    const root = await openFile(client, "", directory);
    const query = (pattern: string, bytes: number) => {
      const { persistent, volatile } = root;
      const name = Buffer.from(pattern, "utf16le");
      const body = new Writer().u16(33).u8(37).u8(1).u32(0).u64(persistent).u64(volatile);
      const message = body.u16(96).u16(name.length).u32(bytes).bytes(name).finish();
      return client.ask(queryDirectory, message, { charge: Math.ceil(bytes / 65_536) });
    };
    await expectNoStall(() => query(`${"*a".repeat(100)}*`, 65_536));
    await expectNoStall(async () => {
      const { status, message } = await query("*", 8 * 1024 * 1024);
      expect(status).toBe(Status.success);
      expect(message.length).toBeGreaterThan(files * entryBytesMin);
    });
    client.end();
  });

  it("does not block the event loop on LOGOFF with delete-on-close", async () => {
    const crowd = await gather(server, share);
    await openMany(crowd, files, (index) => ({ name: `f${index}`, options: deleteOnClose }));
    await expectNoStall(() => crowd.channels[0]!.ask(logoff, nothing));
    const rest = await rawClient(server.urls.file).send({ method: "HEAD", path: `/${share}/f7` });
    expect(rest.status).toBe(404);
    disperse(crowd);
  });
});
