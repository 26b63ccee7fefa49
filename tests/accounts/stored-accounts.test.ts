import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobServiceClient,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { start, type EtagereServer } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { adminToken, callAccounts, clientOf, codeOf, keyOf } from "./account-servers.ts";

const location = temporaryFolder();
const [first, second, third] = [keyOf(1), keyOf(2), keyOf(3)];
let server: EtagereServer;
/** Another server of the same data folder, through which no account is changed. */
let other: EtagereServer;

beforeAll(async () => {
  const options = { ...freePorts, location, adminToken };
  server = await start({ ...options, accounts: { configured: { keys: [keyOf(9)] } } });
  other = await start({ ...options, accounts: { configured: { keys: [keyOf(9)] } } });
});
afterAll(async () => {
  await other.stop();
  await server.stop();
});

const create = (name: string, more: object = {}) =>
  callAccounts(server, "POST", "", { name, keys: [first, second], ...more });

describe("an account that the admin API creates", () => {
  it("has random keys and a connection string that works", async () => {
    const created = await callAccounts(server, "POST", "", { name: "random" });
    expect(created.status).toBe(201);
    const [one = "", two = ""] = created.body.keys ?? [];
    expect(Buffer.from(one, "base64")).toHaveLength(64);
    expect(two).not.toBe(one);
    const client = BlobServiceClient.fromConnectionString(created.body.connectionString ?? "");
    await client.createContainer("box");
  });

  it("is served by another process at once, with both keys", async () => {
    expect((await create("shared")).status).toBe(201);
    await clientOf(other, "shared", second).createContainer("box");
    await clientOf(other, "shared", first).getContainerClient("box").getProperties();
  });

  it("rejects a replaced key at once in every process, and accepts the others", async () => {
    await create("rotated");
    await clientOf(other, "rotated", first).createContainer("box");
    const blob = (key: string) =>
      clientOf(other, "rotated", key).getContainerClient("box").getBlockBlobClient("b");
    await blob(first).upload("a", 1);
    const rotated = await callAccounts(server, "POST", "/rotated/keys/1", { key: third });
    expect(rotated.body.keys).toEqual([third, second]);
    // The other process has not read the new keys yet: both requests find out by themselves.
    expect(await codeOf(blob(first).upload("b", 1))).toBe("AuthenticationFailed");
    await callAccounts(server, "POST", "/rotated/keys/1", { key: first });
    await blob(second).upload("c", 1);
    await callAccounts(server, "POST", "/rotated/keys/2", { key: third });
    await blob(third).upload("d", 1);
    expect(await codeOf(blob(second).getProperties())).not.toBe("");
    expect((await blob(first).downloadToBuffer()).toString()).toBe("d");
  });

  it("keeps the key that is not replaced usable for writes without an error", async () => {
    await create("steady");
    await clientOf(other, "steady", second).createContainer("box");
    for (const fill of [10, 11, 12]) {
      await callAccounts(server, "POST", "/steady/keys/1", { key: keyOf(fill) });
      const box = clientOf(other, "steady", second).getContainerClient("box");
      await box.getBlockBlobClient("b").upload("x", 1);
    }
  });

  it("changes settings for the next request of every process", async () => {
    await create("versioned");
    const box = clientOf(other, "versioned", first).getContainerClient("box");
    await box.create();
    expect((await box.getBlockBlobClient("b").upload("a", 1)).versionId).toBeUndefined();
    const set = (body: object) => callAccounts(server, "POST", "/versioned/settings", body);
    expect((await set({ versioning: true })).body).toMatchObject({ versioning: true });
    expect((await box.getBlockBlobClient("b").upload("b", 1)).versionId).toBeDefined();
    expect((await set({ versioning: null })).body).toMatchObject({ versioning: false });
    expect((await box.getBlockBlobClient("b").upload("c", 1)).versionId).toBeUndefined();
    expect((await set({ hierarchicalNamespace: true })).body.error?.message).toMatch(/flat/);
    expect((await set({ nonsense: 1 })).status).toBe(400);
    expect((await set({ keys: [third] })).status).toBe(400);
  });

  it("survives a reset without its data", async () => {
    await create("reset");
    await clientOf(server, "reset", first).createContainer("box");
    await server.reset();
    const client = clientOf(other, "reset", first);
    expect(await codeOf(client.getContainerClient("box").getProperties())).not.toBe("");
    await client.createContainer("box");
  });
});

describe("the deletion of an account", () => {
  it("is refused while it has data, unless it is forced", async () => {
    await create("full");
    await clientOf(other, "full", first).createContainer("box");
    const refused = await callAccounts(server, "DELETE", "/full");
    expect([refused.status, refused.body.error?.code]).toEqual([409, "AccountNotEmpty"]);
    expect((await callAccounts(server, "DELETE", "/full?force=true")).status).toBe(204);
    const gone = clientOf(other, "full", first).getContainerClient("box").getProperties();
    expect(await gone.catch((error: { statusCode: number }) => error)).toMatchObject({
      statusCode: 404,
    });
    expect((await callAccounts(server, "DELETE", "/full")).status).toBe(404);
  });

  it("leaves nothing that a new account of the same name has, nor its keys", async () => {
    await create("again");
    await clientOf(other, "again", first).createContainer("box");
    await callAccounts(server, "DELETE", "/again?force=true");
    await create("again", { keys: [third] });
    const box = (key: string) => clientOf(other, "again", key).getContainerClient("box");
    expect(await codeOf(box(first).create())).toBe("AuthenticationFailed");
    await box(third).create();
  });

  it("deletes an empty account", async () => {
    await create("empty");
    expect((await callAccounts(server, "DELETE", "/empty")).status).toBe(204);
  });
});

it("rejects an upload whose key is replaced while the body arrives", async () => {
  await create("slow");
  await clientOf(other, "slow", first).createContainer("box");
  const target = new URL(`${other.urls.blob}/slow/box/b?${sasOf("slow", first)}`);
  const status = new Promise<number>((resolve, reject) => {
    const headers = {
      "x-ms-blob-type": "BlockBlob",
      "content-length": 2,
      expect: "100-continue",
    };
    const put = request(target, { method: "PUT", headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    put.on("error", reject);
    put.write("a");
    put.on("continue", () => {
      const rotation = callAccounts(server, "POST", "/slow/keys/1", { key: third });
      rotation.then(() => put.end("b"), reject);
    });
  });
  expect(await status).toBe(403);
  const box = clientOf(server, "slow", second).getContainerClient("box");
  expect(await box.getBlobClient("b").exists()).toBe(false);
});

describe("configured accounts", () => {
  it("are changed by the configuration only", async () => {
    const answers = [
      await create("configured"),
      await callAccounts(server, "DELETE", "/configured?force=true"),
      await callAccounts(server, "POST", "/configured/keys/1", {}),
      await callAccounts(server, "POST", "/configured/settings", { versioning: true }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.error?.code]).toEqual([409, "AccountIsConfigured"]);
    }
  });

  it("replace a stored account of the same name, and are adopted on request", async () => {
    await create("both");
    await clientOf(server, "both", first).createContainer("box");
    const accounts = { both: { keys: [third] }, later: { keys: [third] } };
    const configured = await start({ ...freePorts, location, adminToken, accounts });
    await clientOf(configured, "later", third).createContainer("kept");
    await clientOf(configured, "both", third).getContainerClient("box").getProperties();
    expect(await codeOf(clientOf(configured, "both", first).createContainer("x"))).not.toBe("");
    await configured.stop();
    const { body } = await callAccounts(server, "GET");
    expect(body.unserved).toContainEqual({ name: "later" });
    expect(body.accounts).toContainEqual(
      expect.objectContaining({ name: "both", source: "stored" }),
    );
    expect((await create("later")).body.error?.code).toBe("AccountAlreadyExists");
    expect((await create("later", { adopt: true })).status).toBe(201);
    await clientOf(other, "later", first).getContainerClient("kept").getProperties();
  });
});

it.each([
  ["no name", {}],
  ["a short name", { name: "ab" }],
  ["capitals", { name: "Abc" }],
  ["a secondary endpoint", { name: "abc-secondary" }],
  ["three keys", { name: "keys", keys: [first, second, third] }],
  ["a key that is not base64", { name: "keys", keys: ["no key"] }],
  ["an unknown setting", { name: "settings", settings: { color: "red" } }],
  [
    "contradicting settings",
    { name: "s12", settings: { versioning: true, hierarchicalNamespace: true } },
  ],
])("refuses %s and stores nothing", async (_, body) => {
  const refused = await callAccounts(server, "POST", "", body);
  expect([refused.status, refused.body.error?.code]).toEqual([400, "InvalidInput"]);
  const names = (await callAccounts(server, "GET")).body.accounts?.map(({ name }) => name);
  expect(names).not.toContain("name" in body ? body.name : "");
});

it("rejects a second account of the same name, and an unknown key number", async () => {
  await create("twice");
  expect((await create("twice")).body.error?.code).toBe("AccountAlreadyExists");
  expect((await callAccounts(server, "POST", "/twice/keys/3", {})).status).toBe(400);
  expect((await callAccounts(server, "POST", "/twice/keys/2", { key: first })).status).toBe(400);
});

it("requires a login once an account with a secret key is stored", async () => {
  const alone = await start({ ...freePorts, inMemoryPersistence: true });
  const headers = { "x-etagere-admin": "1", "content-type": "application/json" };
  const path = `${alone.adminUrl}/admin/v1/accounts`;
  const body = JSON.stringify({ name: "secret" });
  expect((await fetch(path, { method: "POST", headers, body })).status).toBe(201);
  expect((await fetch(path, { headers })).status).toBe(401);
  await alone.stop();
});

it("serves only stored accounts with noDevelopmentAccount", async () => {
  const options = { ...freePorts, inMemoryPersistence: true, noDevelopmentAccount: true };
  const bare = await start({ ...options, adminToken });
  expect(bare.connectionString).toBe("");
  expect((await callAccounts(bare, "GET")).body.accounts).toEqual([]);
  expect((await callAccounts(bare, "POST", "", { name: "only" })).status).toBe(201);
  await bare.stop();
});

function sasOf(account: string, key: string): string {
  const values = {
    permissions: AccountSASPermissions.parse("rwdlac"),
    services: AccountSASServices.parse("b").toString(),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
    expiresOn: new Date("2099-01-01"),
  };
  return generateAccountSASQueryParameters(
    values,
    new StorageSharedKeyCredential(account, key),
  ).toString();
}
