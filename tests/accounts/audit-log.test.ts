import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import {
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { adminToken, callAccounts, clientOf, codeOf, keyOf } from "./account-servers.ts";

const folder = temporaryFolder();
const auditLog = join(folder, "audit.log");
const [first, second] = [keyOf(1), keyOf(2)];

interface Line {
  readonly time: string;
  readonly operation?: string;
  readonly resource: string;
  readonly status: number;
  readonly who: Readonly<Record<string, unknown>>;
  readonly client: string;
}

const environmentPath = "/admin/v1/identity/environment";

it("records who did what with which result, and no secrets", async () => {
  const accounts = { audited: { keys: [first, second] } };
  const options = { ...freePorts, inMemoryPersistence: true, adminToken, accounts };
  const server = await start({ ...options, auditLog });
  const box = clientOf(server, "audited", first).getContainerClient("box");
  await box.create();
  await box.setAccessPolicy(undefined, [
    { id: "readers", accessPolicy: { permissions: "rl", expiresOn: new Date("2099-01-01") } },
  ]);
  const own = clientOf(server, "audited", second).getContainerClient("box");
  await own.getBlockBlobClient("b").upload("x", 1);
  const wrong = clientOf(server, "audited", keyOf(3)).getContainerClient("box");
  expect(await codeOf(wrong.deleteBlob("b"))).toBe("AuthenticationFailed");
  const credential = new StorageSharedKeyCredential("audited", first);
  const policy = { containerName: "box", identifier: "readers" };
  const byPolicy = generateBlobSASQueryParameters(policy, credential).toString();
  const permissions = ContainerSASPermissions.parse("r");
  const freely = generateBlobSASQueryParameters(
    { containerName: "box", permissions, expiresOn: new Date("2099-01-01") },
    credential,
  ).toString();
  const url = `${server.urls.blob}/audited/box/b`;
  for (const query of [byPolicy, freely, ""]) {
    await (await fetch(`${url}?${query}`)).arrayBuffer();
  }
  const created = await callAccounts(server, "POST", "", { name: "made" });
  await callAccounts(server, "GET");
  // The response has secrets of principals.
  expect((await callAccounts(server, "GET", "/../identity/environment")).status).toBe(200);
  renameSync(auditLog, `${auditLog}.old`);
  await server.reload();
  await callAccounts(server, "DELETE", "/made");
  await server.stop();

  // Lines that were not written when the file was renamed are in the new one.
  const renewed = readFileSync(auditLog, "utf8");
  const text = readFileSync(`${auditLog}.old`, "utf8") + renewed;
  const lines = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
  const signature = expect.stringMatching(/^[0-9a-f]{16}$/) as unknown;
  expect(
    lines.map(({ operation, resource, status, who }) => [operation, resource, status, who]),
  ).toEqual([
    ["Create Container", "/audited/box", 201, { kind: "key", key: 1 }],
    ["Set Container ACL", "/audited/box", 200, { kind: "key", key: 1 }],
    ["Put Blob", "/audited/box/b", 201, { kind: "key", key: 2 }],
    [undefined, "/audited/box/b", 403, { kind: "unauthenticated" }],
    ["Get Blob", "/audited/box/b", 200, { kind: "service-sas", identifier: "readers", signature }],
    ["Get Blob", "/audited/box/b", 200, { kind: "service-sas", signature }],
    ["Get Blob", "/audited/box/b", 404, { kind: "anonymous" }],
    ["/admin/v1/accounts", "/admin/v1/accounts", 201, { kind: "admin" }],
    [environmentPath, environmentPath, 200, { kind: "admin" }],
    ["/admin/v1/accounts/:name", "/admin/v1/accounts/made", 204, { kind: "admin" }],
  ]);
  expect(lines.every(({ client, time }) => client.includes("127.0.0.1") && time > "2020")).toBe(
    true,
  );
  expect(renewed).toContain('"operation":"/admin/v1/accounts/:name"');
  const signatures = [byPolicy, freely].map((query) => new URLSearchParams(query).get("sig") ?? "");
  const secrets = [first, second, adminToken, ...signatures, ...(created.body.keys ?? [])];
  for (const secret of secrets) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(encodeURIComponent(secret));
  }
});

it("does not start if the file cannot be opened", async () => {
  const options = { ...freePorts, inMemoryPersistence: true, auditLog: join(folder, "no", "file") };
  await expect(start(options)).rejects.toThrow("auditLog: cannot be opened (ENOENT");
});
