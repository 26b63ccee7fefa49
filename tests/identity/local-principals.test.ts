import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { IdentityInput } from "../../src/account/parse-identity.ts";
import { start } from "../../src/index.ts";
import { adminToken, callAccounts } from "../accounts/account-servers.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "../https/certificate.ts";
import { storageStatus } from "./storage-status.ts";

const { folder: certificates, cert, key, ca } = makeCertificate();
afterAll(() => rmSync(certificates, { recursive: true, force: true }));

const secret = "a-secret-of-the-application";
const options = { port: 0, cert, key, inMemoryPersistence: true } as const;
const managedIdentity = { principal: "app", secret };

async function tokenOf(adminUrl: string): Promise<string> {
  const url = `${adminUrl}/identity/token?resource=https%3A%2F%2Fstorage.azure.com`;
  const response = await fetch(url, { headers: { "x-identity-header": secret } });
  return ((await response.json()) as { access_token: string }).access_token;
}

it("a token of a principal ends with its groups and with the principal itself", async () => {
  const config = join(temporaryFolder(), "config.json");
  const configure = (input: IdentityInput): void => {
    const roleAssignments = [{ principal: "team", role: "Storage Blob Data Reader" }];
    writeFileSync(config, JSON.stringify({ roleAssignments, ...input }));
  };
  configure({ principals: { app: { objectId: "o1", groups: ["team"] } }, managedIdentity });
  await using server = await start({ ...options, config });
  const token = await tokenOf(server.adminUrl);
  const list = () => storageStatus(server, { ca, token, path: "/?comp=list" });
  expect(await list()).toBe(200);
  configure({ principals: { app: { objectId: "o1" } }, managedIdentity });
  await server.reload();
  expect(await list()).toBe(403);
  configure({ principals: { app: { objectId: "o1", groups: ["team"] } }, managedIdentity });
  await server.reload();
  expect(await list()).toBe(200);
  configure({ principals: { other: { objectId: "o2", groups: ["team"] } } });
  await server.reload();
  expect(await list()).toBe(401);
});

it("a role assignment may name an account that is created later by the admin API", async () => {
  const identity = {
    principals: { app: { objectId: "o1" } },
    roleAssignments: [
      { principal: "app", role: "Storage Blob Data Contributor", account: "later" },
    ],
    managedIdentity,
  };
  await using server = await start({ ...options, adminToken, identity });
  const token = await tokenOf(server.adminUrl);
  const create = (account: string) => storageStatus(server, { ca, token, account, method: "PUT" });
  expect(await create("later")).toBe(404);
  for (const name of ["later", "another"]) {
    expect((await callAccounts(server, "POST", "", { name })).status).toBe(201);
  }
  expect(await create("later")).toBe(201);
  expect(await create("another")).toBe(403);
  expect(await create("devstoreaccount1")).toBe(403);
});
