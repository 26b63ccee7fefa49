import { ShareServiceClient } from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { Status } from "../../src/smb/status.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import { createBody, lockBody, openFile, read, write } from "./wire-messages.ts";

const held = testServer();
let share = "";

beforeAll(async () => {
  share = freshName("sessions");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  await service.getShareClient(share).create();
});

const ready = () => WireClient.ready(held.server.smbUrl, share);

describe("an anonymous client", () => {
  it("is rejected", async () => {
    const client = await WireClient.open(held.server.smbUrl);
    await client.negotiate();
    expect((await client.logIn("")).status).toBe(Status.logonFailure);
    client.end();
  });

  it("keeps handles opened before re-authenticating and opens nothing until it authenticates again", async () => {
    const client = await ready();
    const file = await openFile(client, "mine.txt");
    await write(client, file, "mine");
    expect((await client.logInAgain("")).status).toBe(Status.success);
    expect(await read(client, file, 4)).toEqual({ status: 0, text: "mine" });
    expect((await client.ask(5, createBody("mine.txt"))).status).toBe(Status.accessDenied);
    expect((await client.logInAgain(developmentAccountName)).status).toBe(Status.success);
    expect((await client.ask(5, createBody("mine.txt"))).status).toBe(Status.success);
    client.end();
  });
});

describe("a session that re-authenticates", () => {
  it("ends on failure", async () => {
    const client = await ready();
    const file = await openFile(client, "gone.txt");
    expect((await client.logInAgain("unknown")).status).toBe(Status.logonFailure);
    expect((await write(client, file, "x")).status).toBe(Status.userSessionDeleted);
    client.end();
  });
});

describe("a repeated LOCK request", () => {
  it("is applied once if its lock sequence is the same", async () => {
    const client = await ready();
    const file = await openFile(client, "locked.txt");
    const lock = { at: 0, length: 10, flags: 0x12 };
    const ask = (sequence: number) => client.ask(10, lockBody(file, { ...lock, sequence }));
    expect((await ask(0x11)).status).toBe(Status.success);
    expect((await ask(0x11)).status).toBe(Status.success);
    expect((await ask(0x12)).status).toBe(Status.lockNotGranted);
    client.end();
  });
});

describe("FSCTL_QUERY_NETWORK_INTERFACE_INFO", () => {
  it("returns the one address that the client is connected to", async () => {
    const client = await ready();
    const ask = (fileId: bigint) =>
      client.ask(11, control(0x0014_01fc, { fileId, outputBytesMax: 4096 }));
    const { status, message } = await ask(0xffff_ffff_ffff_ffffn);
    expect(status).toBe(Status.success);
    const entry = message.subarray(112);
    expect(entry).toHaveLength(152);
    expect(entry.readUInt16LE(24)).toBe(2);
    expect([...entry.subarray(28, 32)]).toEqual([127, 0, 0, 1]);
    expect((await ask(1n)).status).toBe(Status.invalidParameter);
    client.end();
  });
});

function control(code: number, options: { fileId: bigint; outputBytesMax: number }): Buffer {
  return new Writer()
    .u16(57)
    .u16(0)
    .u32(code)
    .u64(options.fileId)
    .u64(options.fileId)
    .zeros(20)
    .u32(options.outputBytesMax)
    .u32(1)
    .u32(0)
    .zeros(1)
    .finish();
}
