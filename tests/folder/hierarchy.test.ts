import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blobs } from "../../src/blob/records.ts";
import { start, type StartOptions } from "../../src/index.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { StartRefused } from "../../src/host/refused.ts";
import { realClock } from "../../src/host/world.ts";
import { openLmdbStore } from "../../src/store/lmdb/open-lmdb-store.ts";
import { silentLog } from "../harness/silent-log.ts";
import { freePorts } from "../harness/server.ts";

const flag = { enableHierarchicalNamespace: true };

let location: string;

beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "etagere-hierarchy-"));
});
afterEach(() => rm(location, { recursive: true, force: true }));

async function withServer(
  options: StartOptions,
  work: (client: BlobServiceClient) => Promise<void>,
): Promise<void> {
  await using server = await start({ ...freePorts, location, ...options });
  await work(BlobServiceClient.fromConnectionString(server.connectionString));
}

async function fill(client: BlobServiceClient): Promise<void> {
  const container = client.getContainerClient("ccc");
  await container.create();
  for (const path of ["a/b/c", "a/b/d", "a/e"]) {
    await container.getBlockBlobClient(path).upload("x".repeat(10_000), 10_000);
  }
  await container.getBlockBlobClient("a/staged").stageBlock("AAAA", "x", 1);
}

async function names(client: BlobServiceClient): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of client.getContainerClient("ccc").listBlobsFlat()) found.push(name);
  return found;
}

const problems = async () =>
  (await checkFolder({ location, clock: realClock(), log: silentLog })).problems;

async function refusal(options: StartOptions): Promise<string> {
  try {
    await withServer(options, () => Promise.resolve());
  } catch (error) {
    if (error instanceof StartRefused) return error.message;
    throw error;
  }
  return "";
}

describe("the namespace of an account", () => {
  it("stays what it was when its first container was created", async () => {
    await withServer({}, () => Promise.resolve());
    await withServer(flag, fill);
    expect(await refusal({})).toContain("hierarchical namespace, which cannot become flat");
    await withServer(
      { accounts: { devstoreaccount1: { hierarchicalNamespace: true } } },
      async (client) => {
        expect(await names(client)).toEqual(["a", "a/b", "a/b/c", "a/b/d", "a/e"]);
      },
    );
  });

  it("does not become hierarchical under flat containers", async () => {
    await withServer({}, fill);
    expect(await refusal(flag)).toContain("flat namespace, which cannot become hierarchical");
    await withServer({}, async (client) => {
      expect(await names(client)).toEqual(["a/b/c", "a/b/d", "a/e"]);
    });
  });

  it.each<[string, StartOptions]>([
    ["a setting", { accounts: { devstoreaccount1: { hierarchicalNamespace: false } } }],
    ["versioning", { accounts: { devstoreaccount1: { versioning: true } } }],
    ["other accounts", { accounts: { other: { keys: ["a2V5"] } } }],
  ])("cannot be chosen by a flag that %s contradicts", async (_what, options) => {
    expect(await refusal({ ...flag, ...options })).toContain("enableHierarchicalNamespace");
  });
});

describe("1 durable: a folder with directories", () => {
  it("has no findings, also while directories are being removed", async () => {
    await withServer(flag, async (client) => {
      await fill(client);
      expect(await problems()).toEqual([]);
      await client.getContainerClient("ccc").delete();
      expect(await problems()).toEqual([]);
    });
    expect(await problems()).toEqual([]);
  });

  it("shows what is in a directory that is gone", async () => {
    await withServer(flag, fill);
    const store = await openLmdbStore({
      location: join(location, "store"),
      clock: realClock(),
      log: silentLog,
    });
    await store.transact(async (tx) => {
      for await (const entries of tx.range(blobs.range([]))) {
        for (const { key, value } of entries) {
          const isParent = blobs.parts(key)[1] === "b";
          if (isParent && blobs.codec.decode(value).directory !== undefined) tx.delete(key);
        }
      }
    });
    await store.close();
    expect((await problems()).join("\n")).toMatch(/blobs \d+ \/ c belongs to \d+, which does not/);
  });
});
