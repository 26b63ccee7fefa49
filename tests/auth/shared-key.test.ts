import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import {
  ShareServiceClient,
  StorageSharedKeyCredential as FileCredential,
} from "@azure/storage-file-share";
import {
  QueueServiceClient,
  StorageSharedKeyCredential as QueueCredential,
} from "@azure/storage-queue";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ticksPerSecond } from "../../src/base/ticks.ts";
import { Authenticator } from "../../src/http/auth/authenticator.ts";
import { CapturedRequests } from "./captured-requests.ts";
import {
  account,
  accountKey,
  allowed,
  noon,
  otherKey,
  requestOf,
  type WireRequest,
} from "./request-of.ts";

let captured: CapturedRequests;
beforeAll(async () => {
  captured = await CapturedRequests.listen();
});
afterAll(() => captured.close());

const authenticator = new Authenticator();
const once = { retryOptions: { maxTries: 1 } };

function outcome(wire: WireRequest, keys: readonly [string, string] = [otherKey, accountKey]) {
  const result = authenticator.authenticate(requestOf(wire), keys, allowed);
  return result.ok ? result.value.kind : result.fault.code;
}

const signedDate = "Fri, 02 Jan 2026 12:00:00 GMT";

/** What a client that follows the documentation sends. */
function signedByHand(text: string, scheme = "SharedKey"): string {
  const key = Buffer.from(accountKey, "base64");
  return `${scheme} ${account}:${createHmac("sha256", key).update(text).digest("base64")}`;
}

describe("requests signed by the client libraries are accepted", () => {
  const url = () => captured.urlOf(account);
  const containers = () => {
    const credential = new StorageSharedKeyCredential(account, accountKey);
    return new BlobServiceClient(url(), credential, once);
  };

  test.each<[string, (client: BlobServiceClient) => Promise<unknown>]>([
    ["a listing", (client) => client.listContainers({ prefix: "a b/ü" }).next()],
    ["service properties", (client) => client.getProperties()],
    ["a container with a metadata order of its own", (client) => createWithMetadata(client)],
    ["an upload", (client) => uploadWithHeaders(client)],
    ["a conditional ranged read", (client) => readRange(client)],
    ["a name that needs encoding", (client) => blobOf(client, "ä +%&?=/x y").getProperties()],
    ["a tag filter", (client) => client.findBlobsByTags("a='b+c' AND d>'e'").next()],
  ])("blob: %s", async (_, call) => {
    const wire = await captured.wireOf(() => call(containers()));
    expect(outcome(wire)).toBe("key");
    expect(outcome(wire, [otherKey, otherKey])).toBe("AuthenticationFailed");
  });

  test("queue, file and table", async () => {
    const queues = new QueueServiceClient(url(), new QueueCredential(account, accountKey), once);
    const shares = new ShareServiceClient(url(), new FileCredential(account, accountKey), once);
    const tableKey = new AzureNamedKeyCredential(account, accountKey);
    const tableOptions = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    const table = new TableClient(url(), "People", tableKey, tableOptions);
    const tables = new TableServiceClient(url(), tableKey, tableOptions);
    const entity = { partitionKey: "a'b", rowKey: "ü c" };
    const calls = [
      ["queue", () => queues.getQueueClient("q").sendMessage("hello")],
      ["queue", () => queues.getQueueClient("q").receiveMessages({ numberOfMessages: 3 })],
      ["file", () => shares.getShareClient("s").getDirectoryClient("d/e").create()],
      ["file", () => shares.getShareClient("s").getDirectoryClient("d").getProperties()],
      ["table", () => table.createEntity(entity)],
      ["table", () => table.getEntity(entity.partitionKey, entity.rowKey)],
      ["table", () => tables.getProperties()],
    ] as const;
    for (const [service, call] of calls) {
      const wire = await captured.wireOf(call);
      expect(outcome({ ...wire, service })).toBe("key");
      expect(outcome({ ...wire, service }, [otherKey, otherKey])).toBe("AuthenticationFailed");
    }
  });
});

function blobOf(client: BlobServiceClient, name: string) {
  return client.getContainerClient("c").getBlockBlobClient(name);
}
function createWithMetadata(client: BlobServiceClient) {
  const metadata = { ab: "1", a_c: "2", a1: "3", aa: "4", Zz: "5" };
  return client.getContainerClient("c").create({ metadata });
}
function uploadWithHeaders(client: BlobServiceClient) {
  const blobHTTPHeaders = { blobContentLanguage: "de", blobContentType: "text/plain" };
  return blobOf(client, "b").upload("content", 7, { blobHTTPHeaders });
}
function readRange(client: BlobServiceClient) {
  const conditions = { ifMatch: '"0x1"', ifUnmodifiedSince: new Date("2026-01-01") };
  return blobOf(client, "b").download(3, 4, { conditions });
}

describe("forms that the client library does not send", () => {
  const headers = ["x-ms-date", signedDate, "x-ms-version", "2021-06-08"];
  const named = `x-ms-date:${signedDate}\nx-ms-version:2021-06-08\n`;
  const signedWith = (authorization: string, more: readonly string[] = []): WireRequest => ({
    url: "/c?restype=container",
    rawHeaders: [...headers, ...more, "Authorization", authorization],
  });

  test("SharedKeyLite", () => {
    const text = `GET\n\n\n\n${named}/${account}/c`;
    expect(outcome(signedWith(signedByHand(text, "SharedKeyLite")))).toBe("key");
  });

  test("SharedKey for tables", () => {
    const text = `GET\n\n\n${signedDate}\n/${account}/c`;
    expect(outcome({ ...signedWith(signedByHand(text)), service: "table" })).toBe("key");
  });

  test("header names in ASCII order and in the service's own order", () => {
    const odd = ["x-ms-meta-ab", "1", "x-ms-meta-a-c", "2"];
    const date = `x-ms-date:${signedDate}\n`;
    const rest = `x-ms-version:2021-06-08\n/${account}/c\nrestype:container`;
    const start = `GET${"\n".repeat(12)}${date}`;
    const ascii = `${start}x-ms-meta-a-c:2\nx-ms-meta-ab:1\n${rest}`;
    const service = `${start}x-ms-meta-ab:1\nx-ms-meta-a-c:2\n${rest}`;
    expect(outcome(signedWith(signedByHand(ascii), odd))).toBe("key");
    expect(outcome(signedWith(signedByHand(service), odd))).toBe("key");
  });

  test("Content-Language before or after Content-Encoding", () => {
    const both = ["Content-Encoding", "gzip", "Content-Language", "de"];
    const end = `${"\n".repeat(10)}${named}/${account}/c\nrestype:container`;
    expect(outcome(signedWith(signedByHand(`GET\ngzip\nde${end}`), both))).toBe("key");
    expect(outcome(signedWith(signedByHand(`GET\nde\ngzip${end}`), both))).toBe("key");
    expect(outcome(signedWith(signedByHand(`GET\nde\nde${end}`), both))).toBe(
      "AuthenticationFailed",
    );
  });

  test("secondary endpoint, whose path is signed as sent", () => {
    const path = `/${account}-secondary/c`;
    const text = `GET${"\n".repeat(12)}${named}/${account}${path}`;
    const rawHeaders = [...headers, "Authorization", signedByHand(text)];
    expect(outcome({ url: path, rawHeaders, pathStyle: true })).toBe("key");
  });
});

describe("rejections", () => {
  const text = `GET${"\n".repeat(12)}x-ms-date:${signedDate}\n/${account}/c`;
  const wire = (authorization: string, more: Partial<WireRequest> = {}): WireRequest => ({
    url: "/c",
    rawHeaders: ["x-ms-date", signedDate, "Authorization", authorization],
    ...more,
  });
  const quarter = 15n * 60n * ticksPerSecond;

  test.each([
    ["exactly a quarter of an hour late", quarter, "key"],
    ["later", quarter + 1n, "AuthenticationFailed"],
    ["exactly as early", -quarter, "key"],
    ["earlier", -quarter - 1n, "AuthenticationFailed"],
  ])("a date %s", (_, offset, expected) => {
    expect(outcome(wire(signedByHand(text), { wallNow: noon + offset }))).toBe(expected);
  });

  test.each([
    ["SharedKey", "InvalidAuthenticationInfo"],
    ["SharedKey ", "InvalidAuthenticationInfo"],
    [`SharedKey ${account}:`, "InvalidAuthenticationInfo"],
    ["SharedKey nothing", "InvalidAuthenticationInfo"],
    ["Basic dXNlcjpwYXNz", "InvalidAuthenticationInfo"],
    ["SharedKey other:abc", "AuthenticationFailed"],
    ["Bearer not.a-token", "InvalidAuthenticationInfo"],
  ])("%s", (authorization, expected) => {
    expect(outcome(wire(authorization))).toBe(expected);
  });

  test("a missing or malformed date", () => {
    const rawHeaders = ["Authorization", signedByHand(text)];
    expect(outcome(wire("", { rawHeaders }))).toBe("AuthenticationFailed");
    const unreadable = ["x-ms-date", "yesterday", ...rawHeaders];
    expect(outcome(wire("", { rawHeaders: unreadable }))).toBe("AuthenticationFailed");
  });

  test("the response contains the string that the server signed", () => {
    const request = requestOf(wire(`SharedKey ${account}:abc=`));
    expect(authenticator.authenticate(request, [accountKey], allowed)).toMatchObject({
      fault: {
        detail: {
          elements: {
            AuthenticationErrorDetail:
              "The MAC signature found in the HTTP request 'abc=' is not the same as any " +
              `computed signature. Server used following string to sign: '${text}'.`,
          },
        },
      },
    });
  });

  test("a signed header that is sent twice", () => {
    const rawHeaders = ["x-ms-meta-a", "1", "X-MS-Meta-A", "2", ...(wire("").rawHeaders ?? [])];
    rawHeaders[rawHeaders.length - 1] = signedByHand(text);
    expect(outcome(wire("", { rawHeaders }))).toBe("InvalidHeaderValue");
  });

  test("an account that disallows shared keys", () => {
    const options = { sharedKeyAllowed: false, oauth: undefined, versions: "later" } as const;
    const request = requestOf(wire(signedByHand(text)));
    expect(authenticator.authenticate(request, [accountKey], options)).toMatchObject({
      fault: { code: "KeyBasedAuthenticationNotPermitted" },
    });
  });

  test("a replaced key is no longer valid", () => {
    expect(outcome(wire(signedByHand(text)), [accountKey, otherKey])).toBe("key");
    expect(outcome(wire(signedByHand(text)), [otherKey, otherKey])).toBe("AuthenticationFailed");
    expect(outcome(wire(signedByHand(text)), [otherKey, accountKey])).toBe("key");
  });
});

test("a change to any character of a signed part is rejected", async () => {
  const credential = new StorageSharedKeyCredential(account, accountKey);
  const client = new BlobServiceClient(captured.urlOf(account), credential, once);
  const wire = await captured.wireOf(() => uploadWithHeaders(client));
  const rawHeaders = wire.rawHeaders ?? [];
  const signedAt = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && /^(x-ms-(?!date)|content-type$|authorization$)/i.test(name)
      ? [index + 1]
      : [],
  );
  expect(outcome(wire)).toBe("key");
  fc.assert(
    fc.property(
      fc.constantFrom(...signedAt),
      fc.nat(),
      fc.constantFrom(..."abcXYZ019-".split("")),
      (index, position, letter) => {
        const value = rawHeaders[index] ?? "";
        const at = position % value.length;
        fc.pre(value[at] !== letter);
        const changed = value.slice(0, at) + letter + value.slice(at + 1);
        const tampered = { ...wire, rawHeaders: rawHeaders.with(index, changed) };
        expect(outcome(tampered)).not.toBe("key");
      },
    ),
  );
  const path = wire.url.replace("/c/b", "/c/d");
  expect(outcome({ ...wire, url: path })).toBe("AuthenticationFailed");
  expect(outcome({ ...wire, url: `${wire.url}?comp=tags` })).toBe("AuthenticationFailed");
  expect(outcome({ ...wire, method: "DELETE" })).toBe("AuthenticationFailed");
});
