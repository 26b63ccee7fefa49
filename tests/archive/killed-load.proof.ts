import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { BlobServiceClient } from "@azure/storage-blob";
import { beforeAll, describe, expect, it } from "vitest";
import { pattern } from "../harness/content-fixture.ts";
import { start } from "../../src/index.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { program } from "../harness/child-server.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const archive = join(folder, "lake.etagere");
const options = { ...freePorts, noSmb: true, enableHierarchicalNamespace: true } as const;

/** A tree of directories with contents inside and outside of records. */
beforeAll(async () => {
  await using server = await start({ ...options, inMemoryPersistence: true });
  const container = BlobServiceClient.fromConnectionString(server.connectionString);
  const files = container.getContainerClient("files");
  await files.create();
  // Several times what one transaction loads.
  const paths = Array.from({ length: 1100 }, (_, index) => index);
  const uploadNext = async (): Promise<void> => {
    for (let index = paths.pop(); index !== undefined; index = paths.pop()) {
      const length = index % 40 === 0 ? 20_000 : 1000 + index;
      const name = `d${index % 7}/e${index % 5}/f${index}`;
      await files.getBlockBlobClient(name).upload(Buffer.from(pattern(length, index)), length);
    }
  };
  await Promise.all(Array.from({ length: 8 }, uploadNext));
  await server.export(archive);
}, 60_000);

const check = async (location: string) =>
  checkFolder({ location, clock: realClock(), log: silentLog });

async function names(connectionString: string): Promise<readonly string[]> {
  const found: string[] = [];
  const service = BlobServiceClient.fromConnectionString(connectionString);
  for await (const { name } of service.listContainers()) found.push(name);
  return found;
}

/** Starts the command with a part of the archive on its standard input. */
async function loadPart(share: number, words: readonly string[]) {
  const stdio: ["pipe", "ignore", "pipe"] = ["pipe", "ignore", "pipe"];
  const child = spawn(process.execPath, [program, "load", "-", ...words], { stdio });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const bytes = await readFile(archive);
  child.stdin.on("error", () => undefined);
  child.stdin.write(bytes.subarray(0, Math.floor(share * bytes.length)));
  return { child, exited };
}

const pollOptions = { timeout: 30_000, interval: 50 };
const blobRecords = async (location: string) => (await check(location)).records.get("blobs") ?? 0;
/** Resolves when a part of the archive is committed. */
const stored = (location: string) =>
  expect.poll(() => blobRecords(location), pollOptions).toBeGreaterThan(0);
const emptied = (location: string) => expect.poll(() => blobRecords(location), pollOptions).toBe(0);

describe("a load that is killed midway", () => {
  it.each([0.3, 0.9])(
    "after %f of the archive changes nothing, and its data is removed after a day",
    async (share) => {
      const location = join(folder, `killed-${share}`);
      await (await start({ ...options, location })).stop();
      const { child, exited } = await loadPart(share, ["--location", location]);
      await stored(location);
      child.kill("SIGKILL");
      await exited;
      expect((await check(location)).problems).toEqual([]);
      await using server = await start({ ...options, location });
      expect(await names(server.connectionString)).toEqual([]);
      server.clock.advance("25h");
      await emptied(location);
      expect((await check(location)).problems).toEqual([]);
      await server.load(archive);
      expect(await names(server.connectionString)).toEqual(["files"]);
    },
    60_000,
  );

  it("by a signal that it can handle deletes its data at once", async () => {
    const location = join(folder, "interrupted");
    await (await start({ ...options, location })).stop();
    const { child, exited } = await loadPart(0.5, ["--location", location]);
    const errors: Buffer[] = [];
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    await stored(location);
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(1);
    expect(Buffer.concat(errors).toString()).toContain("nothing was loaded");
    await using server = await start({ ...options, location });
    await emptied(location);
    expect(await names(server.connectionString)).toEqual([]);
  }, 60_000);

  it("while it sends to a server leaves nothing in it", async () => {
    const location = join(folder, "served");
    await using server = await start({ ...options, location });
    const { child, exited } = await loadPart(0.5, ["--location", location]);
    await stored(location);
    child.kill("SIGKILL");
    await exited;
    await emptied(location);
    expect(await names(server.connectionString)).toEqual([]);
    expect((await check(location)).problems).toEqual([]);
  }, 60_000);
});
