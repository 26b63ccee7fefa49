import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { startCommand } from "../cli/start-command.ts";
import { rawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const ports = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];
/** Large enough to be stored in a file. */
const bodyBytes = 4 * 1024 * 1024;
const folder = temporaryFolder();

/** A file system in which only `$0` is writable, then the command: as a container with a read-only
 *  root file system and one volume. */
const readOnly = [
  "set -e",
  "mount --make-rprivate /",
  'mount -t tmpfs tmpfs "$0"',
  "mount --bind / /",
  "mount -o remount,bind,ro /",
  "mount -t tmpfs -o ro tmpfs /dev/shm",
  "if touch /tmp/writable /dev/shm/writable 2>/dev/null; then exit 9; fi",
  'exec "$@"',
].join("\n");

const inReadOnlyRoot = (data: string, ...words: readonly string[]): readonly string[] => [
  "unshare",
  "--mount",
  "sh",
  "-c",
  readOnly,
  data,
  ...words,
];

function canMount(): boolean {
  const data = join(folder, "probe");
  mkdirSync(data);
  const [program = "", ...words] = inReadOnlyRoot(data, "true");
  return spawnSync(program, words).status === 0;
}

describe.skipIf(!canMount())("on a read-only root file system", () => {
  it.each([1, 2])("the server with %s workers writes only to its data folder", async (workers) => {
    const data = join(folder, `data-${workers}`);
    mkdirSync(data);
    const command = [process.execPath, resolve("bin/etagere"), "--location", data];
    const flags = [...ports.map((name) => `--${name}Port=0`), `--workers=${workers}`];
    const server = await startCommand(inReadOnlyRoot(data, ...command, ...flags));
    try {
      const blob = rawClient(server.urlOf("Blob"));
      const headers = { "x-ms-blob-type": "BlockBlob" };
      const container = await blob.send({ method: "PUT", path: "/container?restype=container" });
      const put = { method: "PUT", path: "/container/b", headers, body: "x".repeat(bodyBytes) };
      expect([container.status, (await blob.send(put)).status]).toEqual([201, 201]);
      expect((await fetch(`${server.urlOf("admin")}/readyz`)).status).toBe(200);
      expect(server.errors()).toBe("");
    } finally {
      expect(await server.end()).toBe(0);
    }
    // The volume was mounted for the server alone.
    expect(readdirSync(data)).toEqual([]);
  });

  it("the server and etagere status work without /proc, as in a bare chroot", async () => {
    const data = join(folder, "without-proc");
    const hidden = ["unshare", "--mount", "sh", "-ec", 'mount -t tmpfs none /proc; exec "$0" "$@"'];
    const command = [...hidden, process.execPath, resolve("bin/etagere")];
    const flags = ports.map((name) => `--${name}Port=0`);
    const server = await startCommand([...command, "--location", data, ...flags]);
    try {
      const metrics = await (await fetch(`${server.urlOf("admin")}/metrics`)).text();
      expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m);
      const [program, ...words] = [...command, "status", "--location", data];
      const shown = spawnSync(program, words, { encoding: "utf8" });
      expect(shown).toMatchObject({ status: 0, stderr: "" });
      expect(server.errors()).toBe("");
    } finally {
      expect(await server.end()).toBe(0);
    }
  });
});
