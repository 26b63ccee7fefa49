import { BlobServiceClient } from "@azure/storage-blob";
import { FileSASPermissions, ShareServiceClient } from "@azure/storage-file-share";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { codeOf } from "../accounts/account-servers.ts";
import { freePorts } from "../harness/server.ts";

const text = "d".repeat(8000);
const retryOptions = { maxTries: 1 };

it("fails an asynchronous copy whose bytes exceed the quota", async () => {
  const accounts = { devstoreaccount1: { quotaBytes: 12_000 } };
  await using server = await start({ ...freePorts, inMemoryPersistence: true, accounts });
  const { connectionString } = server;
  const files = ShareServiceClient.fromConnectionString(connectionString, { retryOptions });
  const share = files.getShareClient("docs");
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("f");
  await file.create(text.length);
  await file.uploadRange(text, 0, text.length);
  const permissions = FileSASPermissions.parse("r");
  const source = file.generateSasUrl({ permissions, expiresOn: new Date("2099-01-01") });
  const blobs = BlobServiceClient.fromConnectionString(connectionString, { retryOptions });
  const box = blobs.getContainerClient("box");
  await box.create();
  const copy = box.getBlobClient("copy");
  const poller = await copy.beginCopyFromURL(source, { intervalInMs: 50 });
  await codeOf(poller.pollUntilDone());
  const { copyStatus, copyStatusDescription, contentLength } = await copy.getProperties();
  expect([copyStatus, contentLength]).toEqual(["failed", 0]);
  expect(copyStatusDescription).toContain("Ingress is over the account limit.");
  // What the account has left is still usable.
  const small = box.getBlockBlobClient("small");
  expect(await codeOf(small.upload(text.slice(0, 4000), 4000))).toBe("");
});
