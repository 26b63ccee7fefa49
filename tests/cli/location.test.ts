import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCommand } from "./start-command.ts";
import { start } from "../../src/server/start.ts";
import { StartRefused } from "../../src/host/refused.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-reset-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function containerOf(connectionString: string) {
  return BlobServiceClient.fromConnectionString(connectionString).getContainerClient("box");
}

describe("a location", () => {
  it("written by a newer release is rejected in one line", async () => {
    const location = join(folder, "newer");
    await mkdir(join(location, "store"), { recursive: true });
    await writeFile(join(location, "store", "format"), "99\n");
    const refused: unknown = await start({ port: 0, location }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StartRefused);
    expect(String(refused)).toContain("format 99 by a newer release");
  });

  it("is shared by servers: each sees the other's acknowledged writes", async () => {
    const options = { port: 0, location: join(folder, "shared") } as const;
    await using one = await start(options);
    const other = await startCommand([process.execPath, resolve("bin/etagere"), ...words(options)]);
    try {
      const container = containerOf(one.connectionString);
      await container.create();
      await container.getBlockBlobClient("blob").upload("text", 4);
      const elsewhere = one.connectionString.replace(one.urls.blob ?? "", other.urlOf("Blob"));
      const seen = await containerOf(elsewhere).getBlockBlobClient("blob").downloadToBuffer();
      expect(seen.toString()).toBe("text");
      await one.reset();
      expect(await containerOf(elsewhere).exists()).toBe(false);
    } finally {
      await other.end();
    }
  });
});

function words({ location }: { readonly location: string }): readonly string[] {
  const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
  return [...ports, "--location", location];
}

describe("data", () => {
  it("survive a restart and are removed by a reset", async () => {
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

  it("of an account that is no longer configured reappear when it is configured again", async () => {
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
