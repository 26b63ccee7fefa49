import * as blobs from "@azure/storage-blob";
import * as lakes from "@azure/storage-file-datalake";
import * as files from "@azure/storage-file-share";
import * as queues from "@azure/storage-queue";
import { describe, expect, test } from "vitest";
import type { ServiceName } from "../../src/protocol/names.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { delegationKeyValueFrom } from "../../src/http/auth/delegation-key.ts";
import type { AuthOptions } from "../../src/http/auth/request.ts";
import {
  account,
  accountKey,
  noon,
  otherKey,
  requestOf,
  ticks,
  type WireRequest,
} from "./request-of.ts";

const authenticator = new Authenticator();
const options: AuthOptions = { sharedKeyAllowed: false, oauth: "basic", versions: "later" };

function authenticate(wire: WireRequest, key = accountKey) {
  return authenticator.authenticate(requestOf(wire), [key, otherKey], options);
}

function outcome(wire: WireRequest, key = accountKey) {
  const result = authenticate(wire, key);
  return result.ok ? result.value.kind : result.fault.code;
}

const objectId = "11111111-1111-1111-1111-111111111111";
const tenantId = "22222222-2222-2222-2222-222222222222";
const keyStart = "2026-01-02T11:00:00Z";
const keyExpiry = "2026-01-02T13:00:00Z";

function delegationKey(service: string, delegatedUserTenantId = ""): blobs.UserDelegationKey {
  const version = "2025-07-05";
  return {
    signedObjectId: objectId,
    signedTenantId: tenantId,
    signedStartsOn: new Date(keyStart),
    signedExpiresOn: new Date(keyExpiry),
    signedService: service,
    signedVersion: version,
    value: delegationKeyValueFrom(accountKey, {
      objectId,
      tenantId,
      start: ticks(keyStart),
      expiry: ticks(keyExpiry),
      service,
      version,
      delegatedUserTenantId,
    }),
    ...(delegatedUserTenantId === "" ? {} : { signedDelegatedUserTenantId: delegatedUserTenantId }),
  };
}

const times = { startsOn: new Date("2026-01-02T10:30:00Z"), expiresOn: new Date(keyExpiry) };

function blobToken(
  values: Partial<blobs.BlobSASSignatureValues> = {},
  key = delegationKey("b"),
): string {
  const permissions = blobs.BlobSASPermissions.parse("rw");
  const all = { containerName: "c", blobName: "b", permissions, ...times, ...values };
  return blobs.generateBlobSASQueryParameters(all, key, account).toString();
}

function lakeToken(values: Partial<lakes.DataLakeSASSignatureValues>): string {
  const permissions = lakes.DataLakeSASPermissions.parse("rw");
  const all = { fileSystemName: "c", pathName: "b", permissions, ...times, ...values };
  return lakes.generateDataLakeSASQueryParameters(all, delegationKey("b"), account).toString();
}

describe("user delegation signatures of the client libraries", () => {
  test.each(["2018-11-09", "2020-02-10", "2020-12-06", "2025-07-05", "2026-04-06"])(
    "blob, %s",
    (version) => {
      const wire = { url: `/c/b?${blobToken({ version, contentType: "a/b" })}` };
      expect(outcome(wire)).toBe("delegation-sas");
      expect(outcome(wire)).toBe("delegation-sas");
      expect(outcome(wire, otherKey)).toBe("AuthenticationFailed");
      expect(outcome({ url: wire.url.replace("/c/b", "/c/d") })).toBe("AuthenticationFailed");
    },
  );

  test("queue and file", () => {
    const version = "2025-07-05";
    const queuePermissions = queues.QueueSASPermissions.parse("rp");
    const queueToken = queues.generateQueueSASQueryParameters(
      { queueName: "q", permissions: queuePermissions, version, ...times },
      delegationKey("q"),
      account,
    );
    const filePermissions = files.FileSASPermissions.parse("r");
    const fileToken = files.generateFileSASQueryParameters(
      { shareName: "s", filePath: "d/f", permissions: filePermissions, version, ...times },
      delegationKey("f"),
      account,
    );
    const wires: readonly [ServiceName, string][] = [
      ["queue", `/q/messages?${queueToken.toString()}`],
      ["file", `/s/d/f?${fileToken.toString()}`],
    ];
    for (const [service, url] of wires) {
      expect(outcome({ service, url })).toBe("delegation-sas");
      expect(outcome({ service, url: url.replace("sp=r", "sp=w") })).toBe("AuthenticationFailed");
    }
  });

  test("signed headers must be sent with the signed values", () => {
    const requestHeaders = { "x-ms-meta-a": "1" };
    const url = `/c/b?${blobToken({ version: "2026-04-06", requestHeaders })}`;
    expect(outcome({ url, rawHeaders: ["x-ms-meta-a", "1"] })).toBe("delegation-sas");
    expect(outcome({ url, rawHeaders: ["x-ms-meta-a", "2"] })).toBe("AuthenticationFailed");
    expect(outcome({ url })).toBe("AuthenticationFailed");
  });

  test("the key's validity period and service are checked", () => {
    const url = `/c/b?${blobToken()}`;
    expect(outcome({ url, wallNow: ticks("2026-01-02T10:45:00Z") })).toBe("AuthenticationFailed");
    expect(outcome({ url: `${url}&si=p` })).toBe("AuthenticationFailed");
    const ofQueues = blobToken({}, delegationKey("q"));
    expect(outcome({ url: `/c/b?${ofQueues}` })).toBe("AuthenticationFailed");
  });

  test("a token that would end after its key is valid until the key ends", () => {
    const longer = blobToken({ expiresOn: new Date("2026-01-02T14:00:00Z") });
    const url = `/c/b?${longer}`;
    expect(outcome({ url })).toBe("delegation-sas");
    expect(outcome({ url, wallNow: ticks(keyExpiry) - 1n })).toBe("delegation-sas");
    expect(outcome({ url, wallNow: ticks(keyExpiry) + 1n })).toBe("AuthenticationFailed");
  });

  test("signed query parameters and headers are found whatever their case is", () => {
    const requestQueryParameters = { COMP: "metadata", "X-Custom": "1" };
    const requestHeaders = { "X-MS-Meta-A": "1" };
    const token = blobToken({ version: "2026-04-06", requestQueryParameters, requestHeaders });
    const rawHeaders = ["x-ms-meta-a", "1"];
    const url = `/c/b?${token}&comp=metadata&x-custom=1`;
    expect(outcome({ url, rawHeaders })).toBe("delegation-sas");
    const other = `/c/b?${token}&comp=metadata&x-custom=2`;
    expect(outcome({ url: other, rawHeaders })).toBe("AuthenticationFailed");
  });

  test("a token limited to a user needs that user's bearer token", () => {
    const version = "2025-07-05";
    const url = `/c/b?${blobToken({ version, delegatedUserObjectId: "user-1" })}`;
    const by = (oid: string) => ({
      url,
      secure: true,
      rawHeaders: ["x-ms-version", version, "Authorization", `Bearer ${tokenOf({ oid })}`],
    });
    expect(outcome(by("user-1"))).toBe("delegation-sas");
    expect(outcome(by("user-2"))).toBe("AuthenticationFailed");
    expect(outcome({ url })).toBe("AuthenticationFailed");
  });

  test("a token limited to a user of a tenant needs a bearer token of that tenant", () => {
    const version = "2025-07-05";
    const values = { version, delegatedUserObjectId: "user-1" };
    const url = `/c/b?${blobToken(values, delegationKey("b", "tenant-1"))}`;
    const by = (tid: string) => {
      const token = tokenOf({ oid: "user-1", tid });
      const rawHeaders = ["x-ms-version", version, "Authorization", `Bearer ${token}`];
      return { url, secure: true, rawHeaders };
    };
    expect(outcome(by("tenant-1"))).toBe("delegation-sas");
    expect(outcome(by("tenant-2"))).toBe("AuthenticationFailed");
  });

  test.each([
    ["agentObjectId", "suoid", false],
    ["preauthorizedAgentObjectId", "saoid", true],
  ] as const)("%s names the user for whom a token was made", (field, parameter, isAuthorised) => {
    const objectIdOfUser = "33333333-3333-3333-3333-333333333333";
    const token = lakeToken({ [field]: objectIdOfUser });
    const agent = { objectId: objectIdOfUser, isAuthorised };
    expect(authenticate({ url: `/c/b?${token}` })).toMatchObject({ ok: true, value: { agent } });
    const without = token.replace(`${parameter}=${objectIdOfUser}`, "scid=");
    expect(outcome({ url: `/c/b?${without}` })).toBe("AuthenticationFailed");
  });

  test("are rejected if bearer tokens are not accepted: there are no roles to limit them", () => {
    const off: AuthOptions = { sharedKeyAllowed: true, oauth: undefined, versions: "later" };
    const request = requestOf({ url: `/c/b?${blobToken()}` });
    expect(authenticator.authenticate(request, [accountKey], off)).toMatchObject({
      fault: { code: "AuthenticationFailed" },
    });
  });
});

const seconds = Number((noon - ticks("1970-01-01")) / 10_000_000n);
const goodClaims = {
  aud: "https://storage.azure.com/",
  iss: `https://sts.windows.net/${tenantId}/`,
  nbf: seconds - 60,
  exp: seconds + 60,
  oid: objectId,
  tid: tenantId,
};

function tokenOf(changes: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ ...goodClaims, ...changes })}.c2ln`;
}

describe("bearer tokens", () => {
  const wire = (changes: object, more: Partial<WireRequest> = {}): WireRequest => ({
    url: "/c",
    secure: true,
    rawHeaders: ["x-ms-version", "2021-06-08", "Authorization", `Bearer ${tokenOf(changes)}`],
    ...more,
  });

  test.each([
    ["for storage", {}, "bearer"],
    ["for this account", { aud: `https://${account}.blob.core.windows.net` }, "bearer"],
    ["newer issuer", { iss: `https://login.microsoftonline.com/${tenantId}/v2.0` }, "bearer"],
    ["issuer of Azurite's tests", { iss: "https://sts.windows-ppe.net" }, "bearer"],
    ["issuer without a final slash", { iss: `https://sts.windows.net/${tenantId}` }, "bearer"],
    [
      "issuer of a longer host",
      { iss: "https://sts.windows.net.evil/" },
      "InvalidAuthenticationInfo",
    ],
    [
      "for another account",
      { aud: "https://other.blob.core.windows.net" },
      "InvalidAuthenticationInfo",
    ],
    [
      "for another service",
      { aud: `https://${account}.queue.core.windows.net` },
      "InvalidAuthenticationInfo",
    ],
    ["for something else", { aud: "https://graph.microsoft.com" }, "InvalidAuthenticationInfo"],
    [
      "from elsewhere",
      { iss: `https://evil.example/sts.windows.net/${tenantId}/` },
      "InvalidAuthenticationInfo",
    ],
    ["expired", { exp: seconds }, "InvalidAuthenticationInfo"],
    ["without expiry", { exp: undefined }, "InvalidAuthenticationInfo"],
    ["not yet valid", { nbf: seconds + 1 }, "InvalidAuthenticationInfo"],
  ])("%s", (_, changes, expected) => {
    expect(outcome(wire(changes))).toBe(expected);
  });

  test("a challenge names the authority that issues tokens", () => {
    expect(authenticate(wire({ exp: 0 }))).toMatchObject({
      fault: {
        code: "InvalidAuthenticationInfo",
        detail: {
          status: 401,
          headers: { "WWW-Authenticate": expect.stringMatching(/^Bearer authorization_uri=https/) },
        },
      },
    });
  });

  test("are accepted only over TLS, from the versions on that define them, and if enabled", () => {
    expect(outcome(wire({}, { secure: false }))).toBe("AuthenticationFailed");
    const rawHeaders = ["x-ms-version", "2017-07-29", "Authorization", `Bearer ${tokenOf({})}`];
    expect(outcome(wire({}, { rawHeaders }))).toBe("AuthenticationFailed");
    const off: AuthOptions = { sharedKeyAllowed: true, oauth: undefined, versions: "later" };
    expect(authenticator.authenticate(requestOf(wire({})), [accountKey], off)).toMatchObject({
      fault: { code: "InvalidAuthenticationInfo", detail: { status: 401 } },
    });
  });
});
