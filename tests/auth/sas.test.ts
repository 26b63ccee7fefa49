import { AzureNamedKeyCredential, generateTableSas } from "@azure/data-tables";
import * as blobs from "@azure/storage-blob";
import * as queues from "@azure/storage-queue";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import {
  account,
  accountKey,
  allowed,
  noon,
  otherKey,
  requestOf,
  ticks,
  type WireRequest,
} from "./request-of.ts";
import {
  accountToken,
  blobToken,
  inContainer,
  queueKey,
  read,
  samples,
  snapshot,
  window,
  wireOf,
} from "./sas-samples.ts";

const authenticator = new Authenticator();

function authenticate(wire: WireRequest, keys: readonly [string, string] = [otherKey, accountKey]) {
  return authenticator.authenticate(requestOf(wire), keys, allowed);
}

function outcome(wire: WireRequest, keys?: readonly [string, string]) {
  const result = authenticate(wire, keys);
  return result.ok ? result.value.kind : result.fault.code;
}

describe("tokens created by the client libraries", () => {
  test.each(samples())("$name ($service)", (sample) => {
    expect(outcome(wireOf(sample))).toBe(sample.kind);
    // The second verdict comes from the cache.
    expect(outcome(wireOf(sample))).toBe(sample.kind);
    expect(outcome(wireOf(sample), [otherKey, otherKey])).toBe("AuthenticationFailed");
  });

  test("granted permissions", () => {
    const tokens = Object.fromEntries(samples().map((sample) => [sample.name, sample]));
    const grant = (name: string) => authenticate(wireOf(tokens[name]!));
    expect(grant("scope")).toMatchObject({
      value: { services: "btqf", resourceTypes: "sco", encryptionScope: "scope1" },
    });
    expect(grant("blob 2020-12-06")).toMatchObject({
      value: {
        permissions: "r",
        resource: { kind: "blob", name: "c", path: "dir/ä b" },
        overrides: { "cache-control": "no-store", "content-type": "text/x" },
      },
    });
    expect(grant("policy 2020-12-06")).toMatchObject({
      value: { identifier: "p", permissions: undefined },
    });
    expect(grant("table")).toMatchObject({
      value: {
        entities: { startPartitionKey: "a", startRowKey: "1", endPartitionKey: "b" },
        resource: { kind: "table", name: "People" },
      },
    });
  });

  test("a change to any character of a signed field is rejected", () => {
    const all = samples();
    fc.assert(
      fc.property(
        fc.constantFrom(...all),
        fc.nat(),
        fc.nat(),
        fc.constantFrom(..."abcrw019XYZ".split("")),
        (sample, field, position, letter) => {
          const fields = [...new URLSearchParams(sample.token)];
          const index = field % fields.length;
          const [name, value] = fields[index]!;
          const at = position % value.length;
          fc.pre(value[at] !== letter);
          const changed = value.slice(0, at) + letter + value.slice(at + 1);
          // The case of a table name is not signed.
          fc.pre(name !== "tn" || changed.toLowerCase() !== value.toLowerCase());
          const token = encode(fields.with(index, [name, changed]));
          expect(outcome(wireOf({ ...sample, token }))).not.toBe(sample.kind);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

function encode(fields: readonly (readonly [string, string])[]): string {
  return fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}

describe("checks made for every request, also with a cached token", () => {
  const wire = (token: string, more: Partial<WireRequest> = {}): WireRequest => ({
    url: `/c?${token}`,
    ...more,
  });

  test("validity period", () => {
    const token = accountToken();
    const at = (text: string) => outcome(wire(token, { wallNow: ticks(text) }));
    expect(at("2026-01-02T10:59:59.9999999Z")).toBe("AuthenticationFailed");
    expect(at("2026-01-02T11:00:00Z")).toBe("account-sas");
    expect(at("2026-01-02T12:59:59.9999999Z")).toBe("account-sas");
    expect(at("2026-01-02T13:00:00Z")).toBe("AuthenticationFailed");
  });

  test("protocol", () => {
    const token = accountToken({ protocol: blobs.SASProtocol.Https });
    expect(outcome(wire(token, { secure: true }))).toBe("account-sas");
    expect(outcome(wire(token))).toBe("AuthorizationProtocolMismatch");
  });

  test("IP address range", () => {
    const token = accountToken({ ipRange: { start: "10.0.0.5", end: "10.0.1.5" } });
    const from = (remoteAddress: string) => outcome(wire(token, { remoteAddress }));
    expect(from("10.0.0.5")).toBe("account-sas");
    expect(from("::ffff:10.0.1.5")).toBe("account-sas");
    expect(from("10.0.1.6")).toBe("AuthorizationSourceIPMismatch");
    expect(from("fe80::1")).toBe("AuthorizationSourceIPMismatch");
    const local = accountToken({ ipRange: { start: "127.0.0.1" } });
    expect(outcome(wire(local, { remoteAddress: "::1" }))).toBe("account-sas");
  });

  test("keys: a replaced key invalidates its tokens", () => {
    const token = accountToken();
    expect(outcome(wire(token), [accountKey, otherKey])).toBe("account-sas");
    expect(outcome(wire(token), [otherKey, otherKey])).toBe("AuthenticationFailed");
  });
});

describe("rejections", () => {
  const container = blobToken({ permissions: inContainer });
  const ofBlob = blobToken({ blobName: "b", permissions: read });
  const ofSnapshot = blobToken({ blobName: "b", snapshotTime: snapshot, permissions: read });
  const level = "The specified signed resource is not allowed for this resource level";

  test.each([
    ["a container's token at the service", `/?comp=batch&${container}`],
    ["a blob's token at the container", `/c?restype=container&comp=list&${ofBlob}`],
    ["a snapshot's token at the blob itself", `/c/b?${ofSnapshot}`],
  ])("%s", (_, url) => {
    expect(authenticate({ url })).toMatchObject({
      fault: {
        code: "AuthenticationFailed",
        detail: { elements: { AuthenticationErrorDetail: level } },
      },
    });
  });

  test.each([
    ["another container", `/d/b?${container}`, "AuthenticationFailed"],
    ["another blob", `/c/b2?${ofBlob}`, "AuthenticationFailed"],
    ["another snapshot", `/c/b?snapshot=x&${ofSnapshot}`, "AuthenticationFailed"],
    ["a blob's version", `/c/b?versionid=${snapshot}&${ofBlob}`, "service-sas"],
    ["a field that comes twice", `/c/b?${ofBlob}&sp=r`, "AuthenticationFailed"],
    ["a line break", `/c/b?${ofBlob.replace("sp=r", "sp=r%0A")}`, "AuthenticationFailed"],
    ["no signature", `/c/b?${ofBlob.replace(/&sig=.*$/, "")}`, "AuthenticationFailed"],
    ["no expiry", `/c/b?${ofBlob.replace(/se=[^&]*/, "")}`, "AuthenticationFailed"],
    [
      "no version for an account",
      `/c?${accountToken().replace(/sv=[^&]*/, "")}`,
      "AuthenticationFailed",
    ],
  ])("%s", (_, url, expected) => {
    expect(outcome({ url })).toBe(expected);
  });

  test("the response contains the string that the server signed", () => {
    expect(authenticate({ url: `/c/b2?${ofBlob}` })).toMatchObject({
      fault: {
        detail: {
          elements: {
            AuthenticationErrorDetail: expect.stringMatching(
              /^Signature did not match\. String to sign used was r\n2026-01-02T11:00:00Z\n/,
            ),
          },
        },
      },
    });
  });

  test("a table token for another table is rejected, but not for a batch", () => {
    const credential = new AzureNamedKeyCredential(account, accountKey);
    const token = generateTableSas("People", credential, window);
    const at = (path: string) => outcome({ service: "table", url: `${path}?${token}` });
    expect(at("/people(PartitionKey='a',RowKey='b')")).toBe("service-sas");
    expect(at("/Others()")).toBe("AuthorizationFailure");
    expect(at("/$batch")).toBe("service-sas");
  });

  test("a token of another service is rejected", () => {
    const permissions = queues.QueueSASPermissions.parse("r");
    const values = { queueName: "c", permissions, ...window };
    const token = queues.generateQueueSASQueryParameters(values, queueKey).toString();
    expect(outcome({ service: "queue", url: `/c?${token}` })).toBe("service-sas");
    expect(outcome({ service: "blob", url: `/c?sr=c&${token}` })).toBe("AuthenticationFailed");
  });

  test("an account that disallows shared keys rejects tokens", () => {
    const options = { sharedKeyAllowed: false, oauth: undefined, versions: "later" } as const;
    const request = requestOf({ url: `/c?${container}`, wallNow: noon });
    expect(authenticator.authenticate(request, [accountKey], options)).toMatchObject({
      fault: { code: "KeyBasedAuthenticationNotPermitted" },
    });
  });

  test("a request without credentials is anonymous", () => {
    expect(outcome({ url: "/c?restype=container" })).toBe("anonymous");
  });
});
