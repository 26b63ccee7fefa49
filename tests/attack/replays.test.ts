import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { sendRaw, type RawReply } from "../fuzz/raw-socket.ts";
import { rawClient, version } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";

const held = testServer();
const account = `/${developmentAccountName}`;
const minuteMilliseconds = 60_000;
const bombBytes = 64 * 1024 * 1024;

/** A captured request. */
interface Captured {
  readonly method: string;
  readonly target: string;
  readonly date: string;
  readonly signature: string;
}

function capture(method: string, path: string, ageMilliseconds: number): Captured {
  const date = new Date(Date.now() - ageMilliseconds).toUTCString();
  const emptyFields = Array.from({ length: 11 }, () => "");
  const headers = [`x-ms-date:${date}`, `x-ms-version:${version}`];
  const text = [method, ...emptyFields, ...headers, `${account}${account}${path}`].join("\n");
  const key = Buffer.from(developmentAccountKey, "base64");
  const signature = createHmac("sha256", key).update(text).digest("base64");
  return { method, target: `${account}${path}`, date, signature };
}

function replay(captured: Captured): Promise<RawReply> {
  const { method, target, date, signature } = captured;
  const authorization = `SharedKey ${developmentAccountName}:${signature}`;
  const headers = Object.entries({ authorization, "x-ms-date": date, "x-ms-version": version });
  return sendRaw(held.server.urls.blob ?? "", { method, target, headers, body: Buffer.alloc(0) });
}

describe("a captured signature", () => {
  it("is valid for the same request, for 15 minutes", async () => {
    const { blob } = held;
    await blob.send({ method: "PUT", path: "/replayed?restype=container" });
    const put = { "x-ms-blob-type": "BlockBlob" };
    await blob.send({ method: "PUT", path: "/replayed/b", headers: put, body: "b" });
    expect((await replay(capture("GET", "/replayed/b", 0))).status).toBe(200);
    const young = capture("GET", "/replayed/b", 14 * minuteMilliseconds);
    expect((await replay(young)).status).toBe(200);
    const old = capture("GET", "/replayed/b", 16 * minuteMilliseconds);
    expect((await replay(old)).status).toBe(403);
    const ahead = capture("GET", "/replayed/b", -16 * minuteMilliseconds);
    expect((await replay(ahead)).status).toBe(403);
  });

  it.each<readonly [string, Partial<Captured>]>([
    ["another method", { method: "DELETE" }],
    ["another blob", { target: `${account}/replayed/c` }],
    ["another question", { target: `${account}/replayed/b?comp=metadata` }],
    ["another time", { date: new Date(Date.now() + minuteMilliseconds).toUTCString() }],
  ])("is invalid for any other request: %s", async (_what, change) => {
    const captured = capture("GET", "/replayed/b", 0);
    expect((await replay({ ...captured, ...change })).status).toBe(403);
  });
});

describe("compressed content is never decompressed", () => {
  const bomb = gzipSync(Buffer.alloc(bombBytes));
  const packed = { "content-encoding": "gzip" };

  it.each<readonly [string, "blob" | "queue" | "table", string, string, string]>([
    ["a block list", "blob", "PUT", "/replayed/b?comp=blocklist", "application/xml"],
    ["a message", "queue", "POST", "/replayed/messages", "application/xml"],
    ["an entity", "table", "POST", "/replayed", "application/json"],
    ["a transaction", "table", "POST", "/$batch", "multipart/mixed; boundary=b"],
  ])("%s", async (_what, service, method, path, type) => {
    const client = rawClient(held.server.urls[service] ?? "");
    const before = process.memoryUsage().rss;
    const headers = { ...packed, "content-type": type };
    const { status } = await client.send({ method, path, headers, body: bomb });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(process.memoryUsage().rss - before).toBeLessThan(bombBytes);
  });

  it("of a blob: it is returned unchanged", async () => {
    const { blob } = held;
    const headers = {
      ...packed,
      "x-ms-blob-type": "BlockBlob",
      "x-ms-blob-content-encoding": "gzip",
    };
    await blob.send({ method: "PUT", path: "/replayed?restype=container" });
    await blob.send({ method: "PUT", path: "/replayed/packed", headers, body: bomb });
    const { body } = await blob.send({ method: "GET", path: "/replayed/packed" });
    expect(body.equals(bomb)).toBe(true);
  });
});

describe("a copy", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[fe80::1]/x",
    "http://0.0.0.0:1/x",
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "http://127.0.0.1:1/x",
    "//etc/passwd",
  ])("is refused from %s", async (source) => {
    const { blob } = held;
    await blob.send({ method: "PUT", path: "/replayed?restype=container" });
    const headers = { "x-ms-copy-source": source, "x-ms-requires-sync": "true" };
    const { status } = await blob.send({ method: "PUT", path: "/replayed/copied", headers });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect((await blob.send({ method: "GET", path: "/replayed/copied" })).status).toBe(404);
  });
});
