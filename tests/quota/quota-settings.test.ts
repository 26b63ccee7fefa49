import { join } from "node:path";
import { expect, it } from "vitest";
import { start, type EtagereServer } from "../../src/index.ts";
import { adminHeaders } from "../admin/admin-server.ts";
import { adminToken, callAccounts, clientOf, codeOf, keyOf } from "../accounts/account-servers.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

interface Stored {
  readonly quotaBytes?: number;
  readonly usedBytes?: number;
}

async function storedOf({ adminUrl }: EtagereServer, account: string): Promise<Stored> {
  const headers = { ...adminHeaders, authorization: `Bearer ${adminToken}` };
  const response = await fetch(`${adminUrl}/admin/v1/stored?account=${account}`, { headers });
  return (await response.json()) as Stored;
}

const text = "d".repeat(1000);

it("counts what an account has stored when it gets a quota, and resets the count with the data", async () => {
  const options = { ...freePorts, inMemoryPersistence: true, adminToken };
  await using server = await start(options);
  const key = keyOf(1);
  await callAccounts(server, "POST", "", { name: "limited", keys: [key] });
  const box = clientOf(server, "limited", key).getContainerClient("box");
  await box.create();
  const put = (name: string): Promise<string> =>
    codeOf(box.getBlockBlobClient(name).upload(text, text.length));
  for (const name of ["a", "b", "c"]) expect(await put(name)).toBe("");
  expect(await storedOf(server, "limited")).not.toHaveProperty("quotaBytes");

  const change = (quotaBytes: number | null) =>
    callAccounts(server, "POST", "/limited/settings", { quotaBytes });
  expect((await change(3500)).status).toBe(200);
  const counted = async (): Promise<number | undefined> => {
    server.clock.advance("6s");
    return (await storedOf(server, "limited")).usedBytes;
  };
  await expect.poll(counted).toBe(3000);
  expect(await put("d")).toBe("ServerBusy");
  await box.deleteBlob("a");
  expect(await put("d")).toBe("");

  expect((await change(null)).status).toBe(200);
  expect(await put("e")).toBe("");
  expect(await storedOf(server, "limited")).not.toHaveProperty("quotaBytes");
  expect((await change(4000)).status).toBe(200);
  await expect.poll(counted).toBe(4000);
  expect(await put("f")).toBe("ServerBusy");

  await server.reset();
  expect(await storedOf(server, "limited")).toMatchObject({ quotaBytes: 4000, usedBytes: 0 });
  await box.create();
  for (const name of ["a", "b", "c", "d"]) expect(await put(name)).toBe("");
  expect(await put("e")).toBe("ServerBusy");
});

it("limits a new account from its first write, also one of the configuration", async () => {
  const key = keyOf(1);
  const accounts = { configured: { keys: [key], quotaBytes: 1500 } };
  const options = { ...freePorts, inMemoryPersistence: true, adminToken, accounts };
  await using server = await start(options);
  const settings = { quotaBytes: 1500 };
  await callAccounts(server, "POST", "", { name: "created", keys: [key], settings });
  for (const name of ["configured", "created"]) {
    const box = clientOf(server, name, key).getContainerClient("box");
    await box.create();
    expect(await codeOf(box.getBlockBlobClient("a").upload(text, text.length))).toBe("");
    expect(await codeOf(box.getBlockBlobClient("b").upload(text, text.length))).toBe("ServerBusy");
    expect(await storedOf(server, name)).toMatchObject({ quotaBytes: 1500, usedBytes: 1000 });
  }
});

it("restores the count with a snapshot", async () => {
  const accounts = { devstoreaccount1: { quotaBytes: 1500 } };
  const options = { ...freePorts, inMemoryPersistence: true, adminToken, accounts };
  await using server = await start(options);
  const account = "devstoreaccount1";
  const { BlobServiceClient } = await import("@azure/storage-blob");
  const retryOptions = { maxTries: 1 };
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString, { retryOptions });
  const box = blobs.getContainerClient("box");
  await box.create();
  const empty = await server.snapshot();
  const put = () => codeOf(box.getBlockBlobClient("a").upload(text, text.length));
  expect(await put()).toBe("");
  await server.restore(empty);
  expect(await storedOf(server, account)).toMatchObject({ usedBytes: 0 });
  expect(await put()).toBe("");
});

it("counts the bytes of a loaded archive", async () => {
  const key = keyOf(1);
  const options = { ...freePorts, inMemoryPersistence: true, adminToken };
  await using server = await start(options);
  const settings = { quotaBytes: 2500 };
  await callAccounts(server, "POST", "", { name: "limited", keys: [key], settings });
  const box = clientOf(server, "limited", key).getContainerClient("box");
  await box.create();
  const put = (name: string): Promise<string> =>
    codeOf(box.getBlockBlobClient(name).upload(text, text.length));
  for (const name of ["a", "b"]) expect(await put(name)).toBe("");
  const archive = join(temporaryFolder(), "archive");
  await server.export(archive, { accounts: ["limited"] });
  await box.deleteBlob("a");
  await server.load(archive, { replace: true });
  const counted = async (): Promise<number | undefined> => {
    server.clock.advance("6s");
    return (await storedOf(server, "limited")).usedBytes;
  };
  await expect.poll(counted).toBe(2000);
  expect(await put("c")).toBe("ServerBusy");
});
