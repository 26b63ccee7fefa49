import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { Status } from "../../src/smb/status.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { freePorts } from "../harness/server.ts";
import { WireClient, type Handle } from "../smb-wire/wire-client.ts";
import { close, openFile, write } from "../smb-wire/wire-messages.ts";
import { codeOf } from "../accounts/account-servers.ts";

const quotaBytes = 100_000;
const text = "d".repeat(60_000);
const queryInfo = 16;
const deleteOnClose = 0x1000;

/** FileFsSizeInformation: the free allocation units. */
async function freeBytes(client: WireClient, { persistent, volatile }: Handle): Promise<number> {
  const body = new Writer()
    .u16(41)
    .u8(2)
    .u8(3)
    .u32(1024)
    .u16(0)
    .u16(0)
    .u32(0)
    .u32(0)
    .u32(0)
    .u64(persistent)
    .u64(volatile)
    .finish();
  const { message, status } = await client.ask(queryInfo, body);
  expect(status).toBe(0);
  return Number(message.readBigUInt64LE(72 + 8)) * 4096;
}

it("answers STATUS_DISK_FULL to SMB writes beyond the quota, and reports the free space", async () => {
  const accounts = { devstoreaccount1: { quotaBytes } };
  await using server = await start({ ...freePorts, inMemoryPersistence: true, accounts });
  const service = ShareServiceClient.fromConnectionString(server.connectionString);
  await service.getShareClient("docs").create();
  const client = await WireClient.ready(server.smbUrl, "docs");
  const first = await openFile(client, "a.txt");
  const second = await openFile(client, "b.txt", { options: deleteOnClose });
  expect(await freeBytes(client, first)).toBe(Math.floor(quotaBytes / 4096) * 4096);
  expect((await write(client, second, text)).status).toBe(Status.success);
  expect((await write(client, first, text)).status).toBe(Status.diskFull);
  expect(await freeBytes(client, first)).toBe(Math.floor((quotaBytes - text.length) / 4096) * 4096);
  // The quota is that of the account, not of a service.
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString, {
    retryOptions: { maxTries: 1 },
  });
  const container = blobs.getContainerClient("box");
  await container.create();
  const blob = container.getBlockBlobClient("b");
  expect(await codeOf(blob.upload(text, text.length))).toBe("ServerBusy");
  await close(client, second);
  expect((await write(client, first, text)).status).toBe(Status.success);
  expect(await codeOf(blob.upload(text, text.length))).toBe("ServerBusy");
  client.end();
});
