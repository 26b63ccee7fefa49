import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import { close, openFile, read, write, writeBody } from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("channels");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const ready = () => WireClient.ready(held.server.smbUrl, share);

async function negotiated(clientGuid?: Buffer): Promise<WireClient> {
  const client = await WireClient.open(held.server.smbUrl);
  client.clientGuid = clientGuid ?? client.clientGuid;
  await client.negotiate();
  return client;
}

describe("a session with several channels", () => {
  it("has the same handles on all channels and ends with the last", async () => {
    const [first, second] = [await ready(), await negotiated()];
    const file = await openFile(first, "joined.txt");
    expect((await second.join(first)).status).toBe(Status.success);
    expect((await write(second, file, "both")).status).toBe(Status.success);
    first.end();
    await first.closed;
    expect(await read(second, file, 10)).toEqual({ status: 0, text: "both" });
    second.end();
    await second.closed;
    const later = await ready();
    const again = await openFile(later, "joined.txt", { share: 0 });
    await close(later, again);
    later.end();
  });

  it("rejects a binding without the session key, and survives the attempt", async () => {
    const [first, second] = [await ready(), await negotiated()];
    const file = await openFile(first, "kept.txt");
    expect((await second.join(first, "wrong")).status).toBe(Status.logonFailure);
    expect((await write(second, file, "x")).status).toBe(Status.userSessionDeleted);
    expect((await write(first, file, "mine")).status).toBe(Status.success);
    first.end();
    second.end();
  });

  it("rejects requests from a connection that is not bound", async () => {
    const [first, second] = [await ready(), await ready()];
    const file = await openFile(first, "alone.txt");
    const stranger = { sessionId: first.sessionId, treeId: first.treeId, signs: false };
    const answer = await second.ask(8, Buffer.alloc(49), stranger);
    expect(answer.status).toBe(Status.userSessionDeleted);
    await close(first, file);
    first.end();
    second.end();
  });

  it("rejects a late request from a channel that the client gave up", async () => {
    const [first, second] = [await ready(), await negotiated()];
    const file = await openFile(first, "late.txt");
    await second.join(first);
    const say = (client: WireClient, text: string, channelSequence: number) =>
      client.ask(9, writeBody(file, text), { channelSequence });
    expect((await say(second, "new", 1)).status).toBe(Status.success);
    expect((await say(first, "old", 0)).status).toBe(Status.fileNotAvailable);
    expect(await read(first, file, 10)).toEqual({ status: 0, text: "new" });
    first.end();
    second.end();
  });

  it("ends on all channels after one LOGOFF", async () => {
    const [first, second] = [await ready(), await negotiated()];
    const file = await openFile(first, "over.txt");
    await second.join(first);
    expect((await second.ask(2, Buffer.from([4, 0, 0, 0]))).status).toBe(Status.success);
    expect((await write(first, file, "x")).status).toBe(Status.userSessionDeleted);
    first.end();
    second.end();
  });
});
