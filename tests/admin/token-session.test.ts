import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signingKey, type SigningKey } from "../identity/token-world.ts";
import { adminServer, type AdminServer } from "./admin-server.ts";

const keyOf = (fill: number): string => Buffer.alloc(64, fill).toString("base64");
const accounts = { first: { keys: [keyOf(1)] }, other: { keys: [keyOf(2)] } };
const lifeSeconds = 600;
const otherAudience = "https://other.blob.core.windows.net";

let admin: AdminServer;
let key: SigningKey;
let issuer: string;
const provider = createServer((request, response) => {
  const isKeys = request.url?.endsWith("/keys") === true;
  const document = isKeys ? { keys: [key.published] } : { issuer, jwks_uri: `${issuer}/keys` };
  response.end(JSON.stringify(document));
});

beforeAll(async () => {
  key = await signingKey("one");
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const identity = {
    issuers: [{ issuer, accounts: ["first"] }],
    roleAssignments: [{ principal: "me", role: "Storage Blob Data Reader" }],
  };
  admin = await adminServer({ accounts, identity, adminToken: "a token that is long enough" });
  for (const [name, { keys }] of Object.entries(accounts)) {
    const credential = new StorageSharedKeyCredential(name, keys[0] ?? "");
    const client = new BlobServiceClient(`${admin.server.urls.blob}/${name}`, credential);
    const { containerClient } = await client.createContainer(`box-of-${name}`);
    await containerClient.getBlobLeaseClient().acquireLease(-1);
  }
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  provider.close();
});

async function logIn(claims: Readonly<Record<string, unknown>>): Promise<Response> {
  const now = Math.floor(Date.now() / 1000);
  const usual = { iss: issuer, aud: "https://storage.azure.com", oid: "me" };
  const bearer = await new SignJWT({ ...usual, exp: now + lifeSeconds, ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "one" })
    .sign(key.privateKey);
  return admin.post("/admin/v1/session", { bearer });
}

async function seen(answer: Response, path: string): Promise<string> {
  const Cookie = answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  return (await admin.get(path, { Cookie })).text();
}

describe("a login with a token of an external issuer", () => {
  it("shows only accounts that accept tokens of the issuer, whatever roles it has", async () => {
    const answer = await logIn({});
    expect(answer.status).toBe(200);
    for (const path of ["/admin/v1/accounts", "/admin/v1/leases"]) {
      const text = await seen(answer, path);
      expect(text).toContain("first");
      expect(text).not.toContain("other");
    }
  });

  it("shows only the service that the token is for", async () => {
    const answer = await logIn({ aud: "https://first.queue.core.windows.net" });
    expect(answer.status).toBe(200);
    expect(await seen(answer, "/admin/v1/leases")).not.toContain("box-of");
    expect(await seen(answer, "/admin/v1/accounts")).not.toContain(`"read":true`);
  });

  it.each([
    ["for another audience", { aud: "another-application" }],
    ["for an account that does not accept its issuer", { aud: otherAudience }],
    ["that has expired", { exp: 1 }],
  ])("is rejected with a token %s", async (_title, claims) => {
    expect((await logIn(claims)).status).toBe(401);
  });
});
