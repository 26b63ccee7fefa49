import { ShareServiceClient } from "@azure/storage-file-share";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { openFile, read, write } from "../smb-wire/wire-messages.ts";

const location = temporaryFolder();
const insufficientResources = 0xc000_009a;
const body = "0123456789".repeat(9000);
let bucket: FakeS3;
let server: EtagereServer;

beforeAll(async () => {
  bucket = await openFakeS3();
  vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  server = await start({ port: 0, location, content: `${bucket.location}&cache=0` });
  const share = ShareServiceClient.fromConnectionString(server.connectionString);
  await share.getShareClient("sss").create();
  const file = share.getShareClient("sss").rootDirectoryClient.getFileClient("file");
  await file.create(body.length);
  await file.uploadRange(body, 0, body.length);
});

afterAll(async () => {
  await server.stop();
  await bucket.close();
  vi.unstubAllEnvs();
});

it("fails single requests while the bucket is unavailable, and keeps the connection and its opens", async () => {
  const client = await WireClient.ready(server.smbUrl, "sss");
  const handle = await openFile(client, "file");
  const length = 60_000;
  expect((await read(client, handle, length)).text).toBe(body.slice(0, length));
  bucket.isAway = true;
  expect((await read(client, handle, length)).status).toBe(insufficientResources);
  const written = await write(client, handle, "x".repeat(20_000));
  expect(written.status).toBe(insufficientResources);
  bucket.isAway = false;
  expect((await read(client, handle, length)).text).toBe(body.slice(0, length));
  expect((await write(client, handle, "y".repeat(20_000))).status).toBe(0);
  expect((await read(client, handle, 20_000)).text).toBe("y".repeat(20_000));
});
