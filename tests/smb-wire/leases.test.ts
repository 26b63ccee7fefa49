import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { encodeContexts, encodeLease } from "../../src/smb/wire/create-contexts.ts";
import { Status } from "../../src/smb/status.ts";
import { Writer } from "../../src/smb/wire/writer.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient, type Answered } from "./wire-client.ts";
import { close, createBody, handleOf, openFile } from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("leases");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const ready = () => WireClient.ready(held.server.smbUrl, share);
const byLease = 0xff;
const read = 1;
const handle = 2;
const write = 4;
const deleteOnClose = 0x1000;
const overwriteIf = 5;

async function leaseFile(client: WireClient, name: string, state: number, key: number) {
  const lease = encodeLease({
    key: Buffer.alloc(16, key),
    state,
    flags: 0,
    version: 1,
    parentKey: Buffer.alloc(16),
    epoch: 0,
  });
  const contexts = encodeContexts([lease]);
  return handleOf(await client.ask(5, createBody(name, { oplock: byLease, contexts })));
}

/** From what to what a client was told to come down. */
function breakOf({ message }: Answered) {
  return { from: message.readUInt32LE(64 + 24), to: message.readUInt32LE(64 + 28) };
}

function acknowledge(client: WireClient, key: number, state: number): Promise<Answered> {
  const body = new Writer().u16(36).u16(0).u32(0).bytes(Buffer.alloc(16, key));
  return client.ask(18, body.u32(state).u64(0n).finish());
}

describe("a lease", () => {
  it("gives up its handle when another client's close is to remove the file", async () => {
    const [keeper, remover] = [await ready(), await ready()];
    await leaseFile(keeper, "kept.txt", read | handle, 1);
    const removing = await openFile(remover, "kept.txt", { options: deleteOnClose });
    await close(remover, removing);
    const [notice] = await keeper.noticed(1);
    expect(breakOf(notice!)).toEqual({ from: read | handle, to: read });
    keeper.end();
    remover.end();
  });

  it("comes down step by step for an overwrite, which waits for all of them", async () => {
    const [keeper, reader, writer] = [await ready(), await ready(), await ready()];
    await leaseFile(keeper, "steps.txt", read | handle | write, 2);
    const opened = reader.ask(5, createBody("steps.txt"));
    await keeper.noticed(1);
    const replaced = writer.ask(5, createBody("steps.txt", { disposition: overwriteIf }));
    await writer.interim(1);
    expect((await acknowledge(keeper, 2, read | handle)).status).toBe(Status.success);
    const second = (await keeper.noticed(2))[1]!;
    expect(breakOf(second)).toEqual({ from: read | handle, to: read });
    expect((await acknowledge(keeper, 2, read)).status).toBe(Status.success);
    expect(breakOf((await keeper.noticed(3))[2]!)).toEqual({ from: read, to: 0 });
    expect((await opened).status).toBe(Status.success);
    expect((await replaced).status).toBe(Status.success);
    for (const client of [keeper, reader, writer]) client.end();
  });
});
