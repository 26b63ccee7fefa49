import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { start } from "../../src/server/start.ts";
import { rawClient } from "../harness/raw-client.ts";

const root = temporaryFolder();

const ports = { blobPort: 0, queuePort: 0, tablePort: 0, filePort: 0, smbPort: 0, adminPort: 0 };
const headers = { "x-ms-blob-type": "BlockBlob" };
/** One inline, one in an extent. */
const sizes = [100, 100_000];

for (const { how, act } of [
  { how: "deleted", act: (path: string) => rmSync(path, { recursive: true }) },
  { how: "moved away", act: (path: string) => renameSync(path, `${path}.away`) },
]) {
  it(`a server whose data folder was ${how} acknowledges no write`, async () => {
    const location = join(root, how);
    await using server = await start({ ...ports, location });
    const client = rawClient(server.urls.blob ?? "");
    const put = async (name: string, size: number): Promise<readonly unknown[]> => {
      const body = Buffer.alloc(size);
      const answer = await client.send({ method: "PUT", path: `/gone/${name}`, headers, body });
      return [answer.status, answer.code];
    };
    await client.send({ method: "PUT", path: "/gone?restype=container" });
    for (const size of sizes) expect(await put(`before-${size}`, size)).toEqual([201, undefined]);
    act(location);
    for (const size of [...sizes, ...sizes]) {
      expect(await put(`after-${size}`, size)).toEqual([503, "ServerBusy"]);
    }
  });
}
