import { expect, it } from "vitest";
import { ShareServiceClient } from "newest-storage-file-share";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer();

/** The newest JavaScript library, which creates files with content and verifies CRC64 checksums. */
async function newFile() {
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString);
  const share = service.getShareClient(freshName("share"));
  await share.create();
  return share.rootDirectoryClient.getFileClient("file");
}

it.each(["StorageCrc64", "None"] as const)(
  "files are created with content, and read with checksums (%s)",
  async (contentChecksumAlgorithm) => {
    const file = await newFile();
    for (const length of [0, 5, 300_000]) {
      const content = Buffer.alloc(length, "hello");
      await file.create(length, { content, contentLength: length, contentChecksumAlgorithm });
      const read = await file.downloadToBuffer(undefined, undefined, { contentChecksumAlgorithm });
      expect(read.equals(content)).toBe(true);
    }
  },
);
