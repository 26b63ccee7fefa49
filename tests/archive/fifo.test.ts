import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, readdirSync, readlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { BlobServiceClient } from "@azure/storage-blob";
import { expect, it, onTestFinished } from "vitest";
import { start } from "../../src/index.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();

function makeFifo(name: string): string {
  const path = join(folder, name);
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
  return path;
}

function startLoad(archive: string) {
  const words = ["load", archive, "--location", join(folder, "data")];
  const program = [resolve("bin/etagere"), ...words];
  const child = spawn(process.execPath, program, { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Whether a process has a file open; false while it waits for the other end of a FIFO. */
function hasOpen(pid: number | undefined, path: string): boolean {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).some((name) => {
    try {
      return readlinkSync(join(descriptors, name)) === path;
    } catch {
      return false; // It was closed meanwhile.
    }
  });
}

const isLinux = process.platform === "linux";

it.runIf(isLinux)("a load from a FIFO without a writer ends on SIGTERM", async () => {
  const fifo = makeFifo("unwritten");
  const child = startLoad(fifo);
  const ended = once(child, "exit");
  await expect.poll(() => hasOpen(child.pid, fifo), { timeout: 10_000 }).toBe(true);
  child.kill("SIGTERM");
  expect(await ended).toEqual([1, null]);
});

it.runIf(isLinux)("an archive is loaded from a FIFO, whose writer comes later", async () => {
  await using source = await start({ port: 0, inMemoryPersistence: true });
  const service = BlobServiceClient.fromConnectionString(source.connectionString);
  const { containerClient } = await service.createContainer("archived");
  await containerClient.getBlockBlobClient("large").upload(Buffer.alloc(2 ** 20, "x"), 2 ** 20);
  const archive = join(folder, "archive");
  await source.export(archive);
  const fifo = makeFifo("written");
  const child = startLoad(fifo);
  const ended = once(child, "exit");
  await expect.poll(() => hasOpen(child.pid, fifo), { timeout: 10_000 }).toBe(true);
  await pipeline(createReadStream(archive), createWriteStream(fifo));
  expect(await ended).toEqual([0, null]);
  await using target = await start({ port: 0, location: join(folder, "data") });
  const blob = BlobServiceClient.fromConnectionString(target.connectionString)
    .getContainerClient("archived")
    .getBlobClient("large");
  expect((await blob.getProperties()).contentLength).toBe(2 ** 20);
});
