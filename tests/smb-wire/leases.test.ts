import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { freshName, testServer } from "../harness/server.ts";
import { acknowledgeLease, leasedOpen } from "./lease-messages.ts";
import { WireClient, type Answered } from "./wire-client.ts";
import { close, createBody, openFile } from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("leases");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const ready = () => WireClient.ready(held.server.smbUrl, share);
const read = 1;
const handle = 2;
const write = 4;
const deleteOnClose = 0x1000;
const overwriteIf = 5;

/** Old and new state of the lease breaks a client received. */
function breakOf({ message }: Answered) {
  return { from: message.readUInt32LE(64 + 24), to: message.readUInt32LE(64 + 28) };
}

describe("a lease", () => {
  it("is broken from handle caching when another client's close would delete the file", async () => {
    const [keeper, remover] = [await ready(), await ready()];
    await leasedOpen(keeper, "kept.txt", { state: read | handle, key: 1 });
    const removing = await openFile(remover, "kept.txt", { options: deleteOnClose });
    await close(remover, removing);
    const [notice] = await keeper.noticed(1);
    expect(breakOf(notice!)).toEqual({ from: read | handle, to: read });
    keeper.end();
    remover.end();
  });

  it("is broken step by step by an overwrite, which waits for every acknowledgement", async () => {
    const [keeper, reader, writer] = [await ready(), await ready(), await ready()];
    await leasedOpen(keeper, "steps.txt", { state: read | handle | write, key: 2 });
    const opened = reader.ask(5, createBody("steps.txt"));
    await keeper.noticed(1);
    const replaced = writer.ask(5, createBody("steps.txt", { disposition: overwriteIf }));
    await writer.interim(1);
    expect((await acknowledgeLease(keeper, 2, read | handle)).status).toBe(Status.success);
    const second = (await keeper.noticed(2))[1]!;
    expect(breakOf(second)).toEqual({ from: read | handle, to: read });
    expect((await acknowledgeLease(keeper, 2, read)).status).toBe(Status.success);
    expect(breakOf((await keeper.noticed(3))[2]!)).toEqual({ from: read, to: 0 });
    expect((await opened).status).toBe(Status.success);
    expect((await replaced).status).toBe(Status.success);
    for (const client of [keeper, reader, writer]) client.end();
  });
});
