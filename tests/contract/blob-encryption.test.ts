import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
type Headers = Readonly<Record<string, string>>;

const put = (path: string, headers: Headers = {}, body?: string) =>
  sim.send({ method: "PUT", path, headers, ...(body === undefined ? {} : { body }) });

function keyOf(byte: number): Headers {
  const key = Buffer.alloc(32, byte);
  return {
    "x-ms-encryption-key": key.toString("base64"),
    "x-ms-encryption-key-sha256": createHash("sha256").update(key).digest("base64"),
    "x-ms-encryption-algorithm": "AES256",
  };
}

const own = keyOf(1);
const other = keyOf(2);

beforeEach(async () => {
  sim = await simBlob();
  await put("/ccc?restype=container");
});

describe("the resize of a page blob", () => {
  const resize = (path: string, headers: Headers) =>
    put(`${path}?comp=properties`, { "x-ms-blob-content-length": "1024", ...headers });
  const page = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" };

  it.each<[string, Headers, Headers, number, string | undefined]>([
    ["the same key", own, own, 200, undefined],
    ["another key", own, other, 409, "BlobCustomerSpecifiedEncryptionMismatch"],
    ["a key that the blob does not use", {}, own, 409, "BlobDoesNotUseCustomerSpecifiedEncryption"],
  ])("with %s", async (_, created, sent, status, code) => {
    await put("/ccc/page", { ...page, ...created });
    const answer = await resize("/ccc/page", sent);
    expect([answer.status, answer.code]).toEqual([status, code]);
    const length = (await sim.send({ method: "HEAD", path: "/ccc/page", headers: created }))
      .headers;
    expect(length["content-length"]).toBe(status === 200 ? "1024" : "512");
  });
});

const block = { "x-ms-blob-type": "BlockBlob" };
const inScope = (name: string): Headers => ({ "x-ms-encryption-scope": name });

/** Requests that change a blob in place. */
const changes: Readonly<Record<string, [type: Headers, change: (headers: Headers) => unknown]>> = {
  "Set Blob Metadata": [block, (headers) => put("/ccc/b?comp=metadata", headers)],
  "Snapshot Blob": [block, (headers) => put("/ccc/b?comp=snapshot", headers)],
  "Append Block": [
    { "x-ms-blob-type": "AppendBlob" },
    (headers) => put("/ccc/b?comp=appendblock", headers, "abc"),
  ],
  "Put Page": [
    { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" },
    (headers) =>
      put(
        "/ccc/b?comp=page",
        { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511", ...headers },
        "p".repeat(512),
      ),
  ],
};

describe.each(Object.entries(changes))("%s", (_, [type, change]) => {
  const outcome = async (headers: Headers) => {
    const { status, code } = (await change(headers)) as { status: number; code?: string };
    return code ?? Math.floor(status / 100);
  };

  it("needs the encryption scope of the blob", async () => {
    await put("/ccc/b", { ...type, ...inScope("first") });
    expect(await outcome({})).toBe("BlobUsesCustomerSpecifiedEncryption");
    expect(await outcome(inScope("second"))).toBe("BlobCustomerSpecifiedEncryptionMismatch");
    expect(await outcome(inScope("first"))).toBe(2);
  });

  it("rejects a scope that the blob does not use", async () => {
    await put("/ccc/b", type);
    expect(await outcome(inScope("first"))).toBe("BlobDoesNotUseCustomerSpecifiedEncryption");
    expect(await outcome(inScope("$account-encryption-key"))).toBe(2);
    expect(await outcome({})).toBe(2);
  });

  it("uses the default scope of the container", async () => {
    await put("/ddd?restype=container", { "x-ms-default-encryption-scope": "first" });
    sim = { ...sim, send: redirected(sim) };
    await put("/ccc/b", type);
    expect((await sim.send({ method: "HEAD", path: "/ccc/b" })).headers).toMatchObject(
      inScope("first"),
    );
    expect(await outcome({})).toBe(2);
  });
});

/** Sends requests for the container `ccc` to `ddd`. */
function redirected(blob: SimBlob): SimBlob["send"] {
  return (call) => blob.send({ ...call, path: call.path.replace("/ccc/", "/ddd/") });
}

describe("a copy", () => {
  const source = { "x-ms-copy-source": "http://127.0.0.1/devstoreaccount1/ccc/source" };
  const kinds: Readonly<Record<string, Headers>> = {
    "Copy Blob": source,
    "Copy Blob From URL": { ...source, "x-ms-requires-sync": "true" },
    "Put Blob From URL": { ...source, ...block },
  };

  it.each(Object.entries(kinds))("by %s is in the scope that was asked for", async (_, headers) => {
    await put("/ccc?restype=container&comp=acl", { "x-ms-blob-public-access": "blob" });
    await put("/ccc/source", { ...block, ...inScope("first") }, "abc");
    const copied = await put("/ccc/copy", { ...headers, ...inScope("second") });
    expect(copied.status).toBeLessThan(300);
    expect(copied.headers).toMatchObject(inScope("second"));
    const { headers: shown } = await sim.send({ method: "HEAD", path: "/ccc/copy" });
    expect(shown).toMatchObject(inScope("second"));
    const plain = await put("/ccc/plain", headers);
    expect(plain.status).toBeLessThan(300);
    expect(plain.headers["x-ms-encryption-scope"]).toBeUndefined();
    await put("/ddd?restype=container", { "x-ms-default-encryption-scope": "third" });
    expect((await put("/ddd/copy", headers)).headers).toMatchObject(inScope("third"));
  });
});

it("an incremental copy is in the default scope of its container", async () => {
  const page = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" };
  await put("/ccc/source", page);
  const { headers } = await put("/ccc/source?comp=snapshot", {});
  await put("/ddd?restype=container", { "x-ms-default-encryption-scope": "third" });
  const url = `http://127.0.0.1/devstoreaccount1/ccc/source?snapshot=${headers["x-ms-snapshot"]}`;
  const copied = await put("/ddd/copy?comp=incrementalcopy", { "x-ms-copy-source": url });
  expect(copied.status).toBe(202);
  const shown = await sim.send({ method: "HEAD", path: "/ddd/copy" });
  expect(shown.headers).toMatchObject(inScope("third"));
});

describe("the encryption scopes of an account", () => {
  it("exist as soon as they are named, unless they are configured", async () => {
    expect((await put("/ccc/b", { ...block, ...inScope("new-scope") })).status).toBe(201);
    sim = await simBlob({ encryptionScopes: ["first"] });
    await put("/ccc?restype=container");
    const unknown = await put("/ccc/b", { ...block, ...inScope("new-scope") });
    expect([unknown.status, unknown.code]).toEqual([404, "EncryptionScopeNotFound"]);
    expect((await sim.send({ method: "HEAD", path: "/ccc/b" })).status).toBe(404);
    expect((await put("/ccc/b", { ...block, ...inScope("first") })).status).toBe(201);
    const container = (scope: string) =>
      put("/ddd?restype=container", { "x-ms-default-encryption-scope": scope });
    expect((await container("new-scope")).code).toBe("EncryptionScopeNotFound");
    expect((await container("first")).status).toBe(201);
  });

  it.each(["ab", "-abc", "a b c", "a".repeat(64)])("cannot be named %s", async (name) => {
    const answer = await put("/ccc/b", { ...block, ...inScope(name) });
    expect([answer.status, answer.code]).toEqual([400, "InvalidHeaderValue"]);
  });
});

describe("a block list", () => {
  it("is committed only with the encryption scope of its blocks", async () => {
    await put("/ccc/b?comp=block&blockid=YQ==", inScope("first"), "text");
    const commit = (headers: Headers) =>
      put("/ccc/b?comp=blocklist", headers, "<BlockList><Latest>YQ==</Latest></BlockList>");
    expect((await commit({})).code).toBe("BlobUsesCustomerSpecifiedEncryption");
    expect((await commit(inScope("second"))).code).toBe("BlobCustomerSpecifiedEncryptionMismatch");
    expect((await commit(inScope("first"))).status).toBe(201);
  });
});
