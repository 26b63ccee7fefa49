import { createHash } from "node:crypto";
import { request } from "node:http";
import { BlobServiceClient } from "@azure/storage-blob";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { testServer } from "../harness/server.ts";

const location = temporaryFolder();
const held = testServer({ inMemoryPersistence: false, location });

const mebibyte = 1024 * 1024;

/**
 * 1 snapshot isolation, also for a download that takes minutes while the blob is overwritten or
 * deleted. The reader pauses after the first bytes until the blob is deleted.
 */
it("a 64 MiB download returns the old bytes whole while the blob is replaced and deleted", async () => {
  const service = BlobServiceClient.fromConnectionString(held.server.connectionString);
  const container = service.getContainerClient("downloads");
  await container.create();
  const blob = container.getBlockBlobClient("big");
  const bytes = Buffer.alloc(64 * mebibyte);
  for (let at = 0; at < bytes.length; at += 4096) bytes.writeUInt32LE(at, at);
  await blob.uploadData(bytes, { blockSize: 4 * mebibyte, maxSingleShotSize: 1 });
  await container.setAccessPolicy("blob");

  const hash = createHash("md5");
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    request(blob.url, (response) => {
      response.on("error", reject);
      response.once("data", (chunk: Buffer) => {
        response.pause();
        hash.update(chunk);
        length += chunk.length;
        void (async () => {
          await blob.uploadData(Buffer.alloc(8 * mebibyte, 1));
          await blob.delete();
          response.on("data", (more: Buffer) => {
            hash.update(more);
            length += more.length;
          });
          response.on("end", resolve);
          response.resume();
        })().catch(reject);
      });
    })
      .on("error", reject)
      .end();
  });
  expect(length).toBe(bytes.length);
  expect(hash.digest("hex")).toBe(createHash("md5").update(bytes).digest("hex"));
});
