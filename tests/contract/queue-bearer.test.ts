import {
  generateQueueSASQueryParameters,
  QueueSASPermissions,
  type UserDelegationKey,
} from "@azure/storage-queue";
import { beforeEach, describe, expect, it } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { messageBody } from "../harness/queue-messages.ts";
import { simQueue, type SimQueue } from "../harness/sim-queue.ts";

const objectId = "11111111-1111-1111-1111-111111111111";
const tenantId = "22222222-2222-2222-2222-222222222222";
const version = "2026-02-06";
const claims = {
  iss: `https://sts.windows.net/${tenantId}/`,
  aud: "https://storage.azure.com",
  exp: Date.UTC(2025, 0, 1) / 1000,
  oid: objectId,
  tid: tenantId,
};
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const authorization = `Bearer ${part({ alg: "none" })}.${part(claims)}.${part({})}`;
const bearer = { authorization, "x-ms-version": version };
const keyPath = "/?restype=service&comp=userdelegationkey";
/** Simulated time begins in 2024. */
const expiry = "2024-01-02T00:00:00Z";
const keyInfo = `<KeyInfo><Expiry>${expiry}</Expiry></KeyInfo>`;

let sim: SimQueue;

beforeEach(async () => {
  sim = await simQueue();
  await sim.send({ method: "PUT", path: "/orders" });
});

async function delegationKey(): Promise<UserDelegationKey> {
  const call = { method: "POST", path: keyPath, headers: bearer, body: keyInfo };
  const { status, body } = await sim.sendAs(call);
  expect(status).toBe(200);
  const field = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(body)?.[1] ?? "";
  return {
    signedObjectId: field("SignedOid"),
    signedTenantId: field("SignedTid"),
    signedStartsOn: new Date(field("SignedStart")),
    signedExpiresOn: new Date(field("SignedExpiry")),
    signedService: field("SignedService"),
    signedVersion: field("SignedVersion"),
    value: field("Value"),
  };
}

describe("queue bearer tokens", () => {
  it("authorize what an account key authorizes", async () => {
    const body = messageBody("by token");
    const call = { method: "POST", path: "/orders/messages", headers: bearer, body };
    expect((await sim.sendAs(call)).status).toBe(201);
  });
  it("obtain a user delegation key, whose signatures reach as far as they state", async () => {
    const key = await delegationKey();
    expect(key).toMatchObject({ signedObjectId: objectId, signedService: "q" });
    const values = {
      queueName: "orders",
      permissions: QueueSASPermissions.parse("a"),
      expiresOn: new Date(expiry),
    };
    const token = generateQueueSASQueryParameters(values, key, developmentAccountName).toString();
    const path = `/orders/messages?${token}`;
    const put = { method: "POST", path, body: messageBody("delegated") };
    expect(await sim.sendAs(put)).toMatchObject({ status: 201 });
    const get = await sim.sendAs({ method: "GET", path });
    expect(get).toMatchObject({ status: 403, code: "AuthorizationPermissionMismatch" });
    const elsewhere = { ...put, path: `/others/messages?${token}` };
    expect(await sim.sendAs(elsewhere)).toMatchObject({ status: 403 });
  });
  it.each([
    ["too long", "2024-01-09T00:00:00Z"],
    ["over already", "2023-12-31T00:00:00Z"],
    ["no time", "tomorrow"],
  ])("obtain no key for a period that is %s", async (_what, end) => {
    const body = `<KeyInfo><Expiry>${end}</Expiry></KeyInfo>`;
    const answer = await sim.sendAs({ method: "POST", path: keyPath, headers: bearer, body });
    expect(answer.status).toBe(400);
  });
  // The service looks the tenant up. This server cannot, but that GUID is never one.
  it("obtain no key for users of a tenant that cannot exist", async () => {
    const tenant = "<DelegatedUserTid>00000000-0000-0000-0000-000000000000</DelegatedUserTid>";
    const body = `<KeyInfo><Expiry>${expiry}</Expiry>${tenant}</KeyInfo>`;
    const answer = await sim.sendAs({ method: "POST", path: keyPath, headers: bearer, body });
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.body).toContain("<Code>AuthenticationFailed</Code>");
  });
  it("are required to obtain a user delegation key", async () => {
    const answer = await sim.send({ method: "POST", path: keyPath, body: keyInfo });
    expect(answer.status).toBe(403);
  });
});
