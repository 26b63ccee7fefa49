import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import {
  frameBytesMax,
  unauthenticatedFrameBytesMax,
  sessionsMax,
  transactBytesMax,
  treesMax,
  pendingBytesMax,
  pendingRequestsMax,
} from "../../src/smb/limits.ts";
import { creditsMax } from "../../src/smb/connection.ts";
import { Status } from "../../src/smb/status.ts";
import { freshName, testServer } from "../harness/server.ts";
import { previousHandle, sendCompound } from "./compound-messages.ts";
import { WireClient } from "./wire-client.ts";
import { createBody, notifyBody, openFile, writeBody } from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("limits");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const ready = () => WireClient.ready(held.server.smbUrl, share);
const directoryOption = 1;
const batch = 9;

describe("limits per client", () => {
  it("sessions per connection", async () => {
    const client = await WireClient.open(held.server.smbUrl);
    await client.negotiate();
    for (let count = 0; count < sessionsMax; count += 1) {
      expect((await client.beginLogin()).status).toBe(Status.moreProcessingRequired);
    }
    expect((await client.beginLogin()).status).toBe(Status.insufficientResources);
    client.end();
  });

  it("tree connects per session", async () => {
    const client = await ready();
    for (let count = 1; count < treesMax; count += 1) await client.connectTo(share);
    expect((await client.connectTo(share)).status).toBe(Status.insufficientResources);
    client.end();
  });

  it("pending requests", async () => {
    const client = await ready();
    const open = (name: string) => openFile(client, name, { options: directoryOption });
    // Each directory has its own limit, below that of the connection.
    const directories = [await open("a"), await open("b"), await open("c")] as const;
    for (let count = 1; count <= pendingRequestsMax; count += 1) {
      client.begin(15, notifyBody(directories[count % 3] ?? directories[0]));
      await client.interim(count);
    }
    const oneMore = await client.ask(15, notifyBody(directories[0]));
    expect(oneMore.status).toBe(Status.insufficientResources);
    client.end();
  });

  it("bytes in frames of pending requests", async () => {
    const [keeper, client] = [await ready(), await ready()];
    await keeper.ask(5, createBody("kept", { oplock: batch }));
    const large = writeBody(previousHandle, "x".repeat(transactBytesMax));
    const send = () =>
      sendCompound(client, [
        [5, createBody("kept")],
        [9, large],
      ]);
    const frames = Math.ceil(pendingBytesMax / transactBytesMax);
    for (let count = 1; count <= frames; count += 1) {
      send();
      await client.interim(count);
    }
    const [oneMore] = send();
    expect((await oneMore!.answer).status).toBe(Status.insufficientResources);
    client.end();
    keeper.end();
  });

  it("length of a message", async () => {
    const client = await ready();
    client.announce(frameBytesMax + 1);
    await client.closed;
  });

  it("length of a message before authentication", async () => {
    const client = await WireClient.open(held.server.smbUrl);
    await client.negotiate();
    client.announce(unauthenticatedFrameBytesMax + 1);
    await client.closed;
  });

  it("credits, however many are requested", async () => {
    const client = await ready();
    const echo = Buffer.from([4, 0, 0, 0]);
    let sum = 0;
    for (let count = 0; count < 200; count += 1) {
      sum += (await client.ask(13, echo, { credits: 0xffff })).credits - 1;
    }
    expect(sum).toBeLessThanOrEqual(creditsMax);
    client.sendRaw(client.encode(13, echo, { messageId: BigInt(creditsMax * 2) }));
    await client.closed;
  });
});
