import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { start } from "./start.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-reset-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function containerOf(connectionString: string) {
  return BlobServiceClient.fromConnectionString(connectionString).getContainerClient("box");
}

describe("data", () => {
  it("outlives a server, and is all gone after a reset", async () => {
    const options = { port: 0, location: join(folder, "data") } as const;
    {
      await using first = await start(options);
      const container = containerOf(first.connectionString);
      await container.create();
      await container.getBlockBlobClient("kept").upload("text", 4);
    }
    await using second = await start(options);
    const container = containerOf(second.connectionString);
    const kept = await container.getBlockBlobClient("kept").downloadToBuffer();
    expect(kept.toString()).toBe("text");
    await second.reset();
    expect(await container.exists()).toBe(false);
    await container.create();
    expect(await container.getBlockBlobClient("kept").exists()).toBe(false);
  });

  it("of an account that the settings no longer name is there when they do again", async () => {
    const options = { port: 0, location: join(folder, "accounts") } as const;
    const accounts = { first: { keys: ["a2V5"] }, second: { keys: ["a2V5"] } };
    {
      await using server = await start({ ...options, accounts });
      await containerOf(server.connectionString).create();
    }
    {
      await using server = await start({ ...options, accounts: { second: accounts.second } });
      expect(await containerOf(server.connectionString).exists()).toBe(false);
    }
    await using server = await start({ ...options, accounts });
    expect(await containerOf(server.connectionString).exists()).toBe(true);
  });
});
