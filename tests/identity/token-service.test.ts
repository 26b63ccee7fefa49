import { readFileSync, rmSync, statSync } from "node:fs";
import { request as send } from "node:http";
import { join } from "node:path";
import { WorkloadIdentityCredential } from "@azure/identity";
import { createLocalJWKSet, jwtVerify } from "jose";
import { afterAll, describe, expect, it } from "vitest";
import { start, type EtagereServer, type StartOptions } from "../../src/index.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "../https/certificate.ts";
import { storageStatus } from "./storage-status.ts";

const { folder: certificates, cert, key, ca } = makeCertificate();
afterAll(() => rmSync(certificates, { recursive: true, force: true }));

const base = { port: 0, cert, key, oauth: "verify" } as const;
const inMemory = { ...base, inMemoryPersistence: true } as const;
const unencrypted = { port: 0, inMemoryPersistence: true } as const;
const resource = "resource=https%3A%2F%2Fstorage.azure.com";
const appService = `/identity/token?api-version=2019-08-01&${resource}`;
const metadata = `/metadata/identity/oauth2/token?api-version=2018-02-01&${resource}`;
const secret = "a-secret-of-the-application";

type Headers = Record<string, string>;

async function get(server: EtagereServer, path: string, headers: Headers = {}) {
  const response = await fetch(`${server.adminUrl}${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

async function developerSecret(server: EtagereServer): Promise<string> {
  const headers = { "x-etagere-admin": "1" };
  const { body } = await get(server, "/admin/v1/identity/environment", headers);
  return (body["variables"] as unknown as Record<string, string>)["IDENTITY_HEADER"] ?? "";
}

async function developerToken(server: EtagereServer): Promise<string> {
  const headers = { "x-identity-header": await developerSecret(server) };
  return (await get(server, appService, headers)).body["access_token"] ?? "";
}

describe("the developer identity", () => {
  it("gets a token with the secret of the server, and may do everything", async () => {
    await using server = await start(inMemory);
    const headers = { "x-identity-header": await developerSecret(server) };
    const { status, body } = await get(server, appService, headers);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "Bearer", resource: "https://storage.azure.com" });
    expect(Number(body["expires_on"])).toBeGreaterThan(1_700_000_000);
    const token = body["access_token"] ?? "";
    expect(await storageStatus(server, { ca, token, method: "PUT" })).toBe(201);
    expect(await storageStatus(server, { ca, token, path: "/?comp=list" })).toBe(200);
    expect(await storageStatus(server, { ca, token: `${token}x` })).toBe(401);
  });

  it("gets one in the form of virtual machines, without a secret", async () => {
    await using server = await start(inMemory);
    const { status, body } = await get(server, metadata, { metadata: "true" });
    expect(status).toBe(200);
    const token = body["access_token"] ?? "";
    expect(await storageStatus(server, { ca, token, method: "PUT" })).toBe(201);
    expect((await get(server, metadata)).status).toBe(400);
    const forwarded = { metadata: "true", "x-forwarded-for": "10.0.0.1" };
    expect((await get(server, metadata, forwarded)).status).toBe(404);
  });

  it.each<[string, StartOptions]>([
    ["another account is configured", { accounts: { main: { keys: ["a2V5"] } } }],
    ["a service listens on all addresses", { blobHost: "0.0.0.0" }],
    ["the admin listener listens on all addresses", { adminHost: "0.0.0.0" }],
  ])("does not exist if %s", async (_title, options) => {
    await using server = await start({ ...unencrypted, ...options, adminToken: "a".repeat(16) });
    expect((await get(server, metadata, { metadata: "true" })).status).toBe(404);
    expect((await get(server, appService, { "x-identity-header": "any" })).status).toBe(404);
    const authorization = `Bearer ${"a".repeat(16)}`;
    const headers = { authorization, "x-etagere-admin": "1" };
    const { body } = await get(server, "/admin/v1/identity/environment", headers);
    expect(body["variables"]).toEqual({});
  });
});

describe("the managed-identity endpoint", () => {
  it("accepts neither a wrong secret nor many attempts", async () => {
    await using server = await start(inMemory);
    for (let each = 0; each < 10; each += 1) {
      expect((await get(server, appService, { "x-identity-header": "wrong" })).status).toBe(401);
    }
    expect((await get(server, appService, { "x-identity-header": "wrong" })).status).toBe(429);
  });

  it("limits wrong secrets that arrive at once, before the local identity was loaded", async () => {
    await using server = await start(inMemory);
    const wrong = { "x-identity-header": "wrong" };
    const sent = Array.from({ length: 20 }, () => get(server, appService, wrong));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  });

  it("gives no token to web pages, for other services or for other identities", async () => {
    await using server = await start(inMemory);
    const right = { "x-identity-header": await developerSecret(server) };
    const pages: Headers[] = [
      { origin: "http://evil.example" },
      { origin: server.adminUrl },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const page of pages) {
      expect(await statusAt(server, appService, { ...right, ...page })).toBe(403);
      expect(await statusAt(server, metadata, { metadata: "true", ...page })).toBe(403);
    }
    for (const header of ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]) {
      const forwarded = { metadata: "true", [header]: "203.0.113.1" };
      expect([header, await statusAt(server, metadata, forwarded)]).toEqual([header, 404]);
    }
    const rebound = { metadata: "true", host: "evil.example" };
    expect(await statusAt(server, metadata, rebound)).toBe(403);
    // The secret suffices, so that a container can use the name of the server.
    expect(await statusAt(server, appService, { ...right, host: "etagere:10010" })).toBe(200);
    const guess = { "x-identity-header": "wrong", host: "evil.example" };
    expect(await statusAt(server, appService, guess)).toBe(401);
    const vault = "/identity/token?resource=https%3A%2F%2Fvault.azure.net";
    expect((await get(server, vault, right)).status).toBe(400);
    expect((await get(server, `${appService}&client_id=another`, right)).status).toBe(400);
  });

  it("issues tokens of the configured principal with the configured secret", async () => {
    const identity = {
      principals: { app: { objectId: "o1", clientId: "c1" } },
      roleAssignments: [{ principal: "app", role: "Storage Blob Data Reader" }],
      managedIdentity: { principal: "app", secret },
    };
    const accounts = { devstoreaccount1: { keys: ["a2V5"] } };
    await using server = await start({ ...inMemory, accounts, identity });
    const { body } = await get(server, appService, { "x-identity-header": secret });
    const token = body["access_token"] ?? "";
    expect(await storageStatus(server, { ca, token, path: "/?comp=list" })).toBe(200);
    expect(await storageStatus(server, { ca, token, method: "PUT" })).toBe(403);
    expect((await get(server, metadata, { metadata: "true" })).status).toBe(404);
    const named = `${appService}&client_id=c1`;
    expect((await get(server, named, { "x-identity-header": secret })).status).toBe(200);
  });
});

/** `fetch` does not send these headers as they are. */
function statusAt(server: EtagereServer, path: string, headers: Headers) {
  return new Promise<number | undefined>((resolve, reject) => {
    const sent = send(`${server.adminUrl}${path}`, { headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("client credentials", () => {
  const identity = {
    principals: { app: { objectId: "o1", clientId: "c1", secret } },
    roleAssignments: [{ principal: "app", role: "Storage Blob Data Contributor" }],
  };

  async function tenantOf(server: EtagereServer): Promise<string> {
    const { body } = await get(server, "/common/discovery/instance");
    return new URL(body["tenant_discovery_endpoint"] ?? "").pathname.split("/")[1] ?? "";
  }

  async function askFor(
    server: EtagereServer,
    tenant: string,
    form: Record<string, string>,
    headers: Headers = {},
  ) {
    const url = `${server.adminUrl}/${tenant}/oauth2/v2.0/token`;
    const usual = {
      grant_type: "client_credentials",
      client_id: "c1",
      client_secret: secret,
      scope: "https://storage.azure.com/.default",
    };
    const body = new URLSearchParams({ ...usual, ...form });
    const response = await fetch(url, { method: "POST", body, headers });
    // Hadoop rejects a response without a length.
    const text = await response.text();
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    return { status: response.status, body: JSON.parse(text) as Record<string, string> };
  }

  it("get a token for a principal with a secret", async () => {
    await using server = await start({ ...inMemory, identity });
    const tenant = await tenantOf(server);
    const { status, body } = await askFor(server, tenant, {});
    expect([status, body["token_type"]]).toEqual([200, "Bearer"]);
    const token = body["access_token"] ?? "";
    expect(await storageStatus(server, { ca, token, method: "PUT" })).toBe(201);
    expect(
      await storageStatus(server, { ca, token, path: "/one?restype=container&comp=acl" }),
    ).toBe(403);
  });

  it.each([
    ["wrong secret", { client_secret: "another-secret-of-it" }, 401],
    ["empty secret", { client_secret: "" }, 401],
    ["unknown client", { client_id: "c2" }, 401],
    [
      "the developer, which has no secret",
      { client_id: developerClient(), client_secret: "" },
      401,
    ],
    ["another grant", { grant_type: "password" }, 400],
    ["another service", { scope: "https://vault.azure.net/.default" }, 400],
  ])("are rejected: %s", async (_title, form, status) => {
    await using server = await start({ ...inMemory, identity });
    expect((await askFor(server, await tenantOf(server), form)).status).toBe(status);
  });

  it("are rejected from web pages", async () => {
    await using server = await start({ ...inMemory, identity });
    const tenant = await tenantOf(server);
    const pages: Headers[] = [
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: server.adminUrl },
      { "sec-fetch-site": "cross-site" },
    ];
    for (const page of pages) expect((await askFor(server, tenant, {}, page)).status).toBe(403);
  });

  it("may be an assertion from the file that etagere env names, as of workloads", async () => {
    const location = temporaryFolder();
    await using server = await start({ ...base, location, identity });
    const path = "/admin/v1/identity/environment?principal=app";
    const { body } = await get(server, path, { "x-etagere-admin": "1" });
    const variables = body["variables"] as unknown as Record<string, string>;
    const file = variables["AZURE_FEDERATED_TOKEN_FILE"] ?? "";
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const credential = new WorkloadIdentityCredential({
      tenantId: variables["AZURE_TENANT_ID"] ?? "",
      clientId: variables["AZURE_CLIENT_ID"] ?? "",
      tokenFilePath: file,
      authorityHost: variables["AZURE_AUTHORITY_HOST"] ?? "",
      disableInstanceDiscovery: true,
      tlsOptions: { ca },
    });
    const { token } = await credential.getToken("https://storage.azure.com/.default");
    expect(await storageStatus(server, { ca, token, method: "PUT" })).toBe(201);
    const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    const tenant = await tenantOf(server);
    for (const assertion of ["", secret, readFileSync(file, "utf8").slice(1)]) {
      const form = { client_assertion_type: type, client_assertion: assertion };
      expect((await askFor(server, tenant, form)).status).toBe(401);
    }
  });

  it("are rejected for another tenant", async () => {
    await using server = await start({ ...inMemory, identity });
    expect((await askFor(server, "another", {})).status).toBe(400);
  });

  it("publish the keys that verify their tokens", async () => {
    await using server = await start({ ...inMemory, identity });
    const tenant = await tenantOf(server);
    const path = `/${tenant}/v2.0/.well-known/openid-configuration`;
    const { body: found } = await get(server, path);
    const keys = await get(server, new URL(found["jwks_uri"] ?? "").pathname);
    const { body } = await askFor(server, tenant, {});
    const set = createLocalJWKSet(keys.body as unknown as Parameters<typeof createLocalJWKSet>[0]);
    const { payload } = await jwtVerify(body["access_token"] ?? "", set, {
      issuer: found["issuer"] ?? "",
      audience: "https://storage.azure.com",
    });
    expect(payload).toMatchObject({ oid: "o1", appid: "c1", tid: tenant });
    expect(JSON.stringify(keys.body)).not.toContain('"d"');
  });
});

function developerClient(): string {
  return "d0000000-0000-4000-8000-000000000002";
}

it("keys and secrets are kept in the data folder, for its user only", async () => {
  const location = temporaryFolder();
  const first = await start({ ...base, location });
  const token = await developerToken(first);
  const known = await developerSecret(first);
  await first.stop();
  const folder = join(location, "identity");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "identity.json")).mode & 0o777).toBe(0o600);
  await using second = await start({ ...base, location });
  expect(await storageStatus(second, { ca, token, path: "/?comp=list" })).toBe(200);
  expect(await developerSecret(second)).toBe(known);
  await using other = await start(inMemory);
  expect(await storageStatus(other, { ca, token, path: "/?comp=list" })).toBe(401);
});
