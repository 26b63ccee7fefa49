import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { start } from "../../src/server/start.ts";
import { rawClient } from "../harness/raw-client.ts";

const root = temporaryFolder();

const ports = { blobPort: 0, queuePort: 0, tablePort: 0, filePort: 0, smbPort: 0, adminPort: 0 };
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Runs a server that stores one body inline and one in an extent. */
async function useFolder(location: string): Promise<void> {
  const before = process.umask(0o000);
  try {
    await using server = await start({ ...ports, location });
    const client = rawClient(server.urls.blob ?? "");
    await client.send({ method: "PUT", path: "/private?restype=container" });
    for (const size of [100, 100_000]) {
      const headers = { "x-ms-blob-type": "BlockBlob" };
      const call = { method: "PUT", path: `/private/${size}`, headers, body: Buffer.alloc(size) };
      expect((await client.send(call)).status).toBe(201);
    }
    expectPrivate(location);
  } finally {
    process.umask(before);
  }
}

function expectPrivate(location: string): void {
  const names = readdirSync(location, { recursive: true, encoding: "utf8" });
  expect(names.length).toBeGreaterThan(2);
  for (const name of names) {
    const path = join(location, name);
    const expected = statSync(path).isDirectory() ? "700" : "600";
    expect([name, modeOf(path)]).toEqual([name, expected]);
  }
}

describe.skipIf(process.platform === "win32")("the data folder", () => {
  it("is accessible to one user only, whatever the umask", async () => {
    const location = join(root, "new", "data");
    await useFolder(location);
    expect([modeOf(join(root, "new")), modeOf(location)]).toEqual(["700", "700"]);
  });

  it("of an earlier release is made private; its parent folder is unchanged", async () => {
    const location = join(root, "old");
    mkdirSync(location);
    chmodSync(location, 0o755);
    for (const name of ["store", "ephemeral", "extents"]) {
      mkdirSync(join(location, name));
      chmodSync(join(location, name), 0o755);
    }
    await useFolder(location);
    expect(modeOf(location)).toBe("755");
  });
});
