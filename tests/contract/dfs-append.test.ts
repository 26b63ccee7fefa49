import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
let created: Record<string, string>;
const leaseId = "11111111-2222-3333-4444-555555555555";

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
  created = (await sim.sendToDfs({ method: "PUT", path: "/fff/file?resource=file" })).headers;
});

function append(position: number, body: string, headers: Record<string, string> = {}, more = "") {
  const path = `/fff/file?action=append&position=${position}${more}`;
  return sim.sendToDfs({ method: "PATCH", path, headers, body });
}

function flush(position: number, headers: Record<string, string> = {}, more = "") {
  const path = `/fff/file?action=flush&position=${position}${more}`;
  return sim.sendToDfs({ method: "PATCH", path, headers });
}

async function content(): Promise<string> {
  return (await sim.sendToDfs({ method: "GET", path: "/fff/file" })).body;
}

async function head() {
  return (await sim.sendToDfs({ method: "HEAD", path: "/fff/file" })).headers;
}

describe("appended data", () => {
  it("is not visible before it is flushed", async () => {
    const appended = await append(0, "hello");
    expect(appended.status).toBe(202);
    expect(appended.headers["etag"]).toBeUndefined();
    const before = await head();
    expect([before["content-length"], before["etag"]]).toEqual(["0", created["etag"]]);
    const flushed = await flush(5);
    expect(flushed.status).toBe(200);
    expect(flushed.headers["etag"]).not.toBe(created["etag"]);
    expect(await content()).toBe("hello");
  });

  it("may come in any order; the last of two at one position wins", async () => {
    await append(5, " world");
    await append(0, "HELLO");
    await append(0, "hello");
    await flush(11);
    expect(await content()).toBe("hello world");
    await append(11, "!");
    await append(6, "WORLD");
    await flush(12);
    expect(await content()).toBe("hello WORLD!");
  });

  it("is flushed only without a gap, and never shortens a file", async () => {
    await append(1, "b");
    for (const position of [1, 2]) {
      const refused = await flush(position);
      expect([refused.status, refused.code]).toEqual([400, "InvalidFlushPosition"]);
    }
    await append(0, "a");
    expect((await flush(3)).code).toBe("InvalidFlushPosition");
    expect((await flush(2)).status).toBe(200);
    expect((await flush(1)).code).toBe("InvalidFlushPosition");
    expect(await content()).toBe("ab");
  });

  it("beyond the flushed length is dropped, or kept on request", async () => {
    await append(0, "abc");
    await append(3, "def");
    await flush(3, {}, "&retainUncommittedData=true");
    expect(await content()).toBe("abc");
    await flush(6);
    expect(await content()).toBe("abcdef");
    await append(6, "ghi");
    await append(9, "jkl");
    await flush(9);
    expect((await flush(12)).code).toBe("InvalidFlushPosition");
    expect(await content()).toBe("abcdefghi");
  });

  it("is cut where a flush ends inside it", async () => {
    await append(0, "abcdef");
    await flush(4, {}, "&retainUncommittedData=true");
    expect(await content()).toBe("abcd");
    await flush(6);
    expect(await content()).toBe("abcdef");
  });

  it("is gone with the file it was meant for", async () => {
    await append(0, "old");
    await sim.sendToDfs({ method: "PUT", path: "/fff/file?resource=file" });
    expect((await flush(3)).code).toBe("InvalidFlushPosition");
    await append(0, "new");
    await sim.sendToDfs({ method: "DELETE", path: "/fff/file" });
    expect((await flush(3)).code).toBe("PathNotFound");
  });

  it("survives a rename of its file", async () => {
    await append(0, "data");
    const headers = { "x-ms-rename-source": "/fff/file" };
    await sim.sendToDfs({ method: "PUT", path: "/fff/moved?mode=legacy", headers });
    const path = "/fff/moved?action=flush&position=4";
    expect((await sim.sendToDfs({ method: "PATCH", path })).status).toBe(200);
    expect((await sim.sendToDfs({ method: "GET", path: "/fff/moved" })).body).toBe("data");
  });

  it("of many kibibytes keeps its bytes", async () => {
    const parts = ["a", "b", "c"].map((letter) => letter.repeat(70_000));
    for (const [at, part] of parts.entries()) await append(at * 70_000, part);
    await flush(210_000);
    expect(await content()).toBe(parts.join(""));
  });
});

describe("checks", () => {
  it("reject empty data, wrong checksums and wrong parameters, and change nothing", async () => {
    const empty = await append(0, "");
    expect([empty.status, empty.code]).toEqual([400, "InvalidHeaderValue"]);
    expect(JSON.parse(empty.body)).toMatchObject({
      error: { detail: { HeaderName: "Content-Length", HeaderValue: "0" } },
    });
    const md5 = { "content-md5": Buffer.alloc(16).toString("base64") };
    expect((await append(0, "x", md5)).code).toBe("Md5Mismatch");
    const crc64 = { "x-ms-content-crc64": Buffer.alloc(8).toString("base64") };
    expect((await append(0, "x", crc64)).code).toBe("Crc64Mismatch");
    expect((await append(-1, "x")).code).toBe("InvalidQueryParameterValue");
    const path = "/fff/file?action=append";
    const without = await sim.sendToDfs({ method: "PATCH", path, body: "x" });
    expect(without.code).toBe("MissingRequiredQueryParameter");
    expect((await flush(1)).code).toBe("InvalidFlushPosition");
  });

  it("of conditions come with the flush; those of reads answer 304", async () => {
    await append(0, "x");
    const etag = created["etag"] ?? "";
    expect((await flush(1, { "if-match": '"0x1"' })).status).toBe(412);
    const unmodified = await flush(1, { "if-none-match": etag });
    expect([unmodified.status, unmodified.code, unmodified.body]).toEqual([
      304,
      "ConditionNotMet",
      "",
    ]);
    expect((await flush(1, { "if-match": etag })).status).toBe(200);
    expect((await flush(1, { "if-match": etag })).status).toBe(412);
  });

  it("keep blocks of the Blob API and appended data apart", async () => {
    const block = Buffer.from("one").toString("base64");
    const put = `/fff/blocks?comp=block&blockid=${encodeURIComponent(block)}`;
    await sim.send({ method: "PUT", path: put, body: "x" });
    const body = `<BlockList><Latest>${block}</Latest></BlockList>`;
    await sim.send({ method: "PUT", path: "/fff/blocks?comp=blocklist", body });
    const path = "/fff/blocks?action=flush&position=1";
    const refused = await sim.sendToDfs({ method: "PATCH", path });
    expect([refused.status, refused.code]).toEqual([409, "InvalidFlushOperation"]);
  });
});

describe("flushing at once", () => {
  it("commits with the append; the type of the request becomes the file's", async () => {
    const headers = { "content-type": "application/json" };
    const appended = await append(0, "{}", headers, "&flush=true");
    expect(appended.status).toBe(202);
    expect(appended.headers["etag"]).toBeDefined();
    expect(await content()).toBe("{}");
    expect((await head())["content-type"]).toBe("application/json");
  });
});

describe("leases", () => {
  const proposed = { "x-ms-proposed-lease-id": leaseId, "x-ms-lease-duration": "15" };

  it("are acquired, renewed and released along with a write", async () => {
    await append(0, "a", { ...proposed, "x-ms-lease-action": "acquire" });
    expect((await head())["x-ms-lease-state"]).toBe("leased");
    expect((await append(1, "b")).code).toBe("LeaseIdMissing");
    const id = { "x-ms-lease-id": leaseId };
    const renewed = await append(1, "b", { ...id, "x-ms-lease-action": "auto-renew" });
    expect(renewed.headers["x-ms-lease-renewed"]).toBe("true");
    expect((await flush(2, { ...id, "x-ms-lease-action": "release" })).status).toBe(200);
    expect((await head())["x-ms-lease-state"]).toBe("available");
    await append(2, "c");
    const both = { ...proposed, "x-ms-lease-action": "acquire-release" };
    expect((await flush(3, both)).status).toBe(200);
    expect((await head())["x-ms-lease-state"]).toBe("available");
    expect(await content()).toBe("abc");
  });

  it("cannot be released by an append that commits nothing", async () => {
    await append(0, "a", { ...proposed, "x-ms-lease-action": "acquire" });
    const headers = { "x-ms-lease-id": leaseId, "x-ms-lease-action": "release" };
    expect((await append(1, "b", headers)).code).toBe("InvalidHeaderValue");
  });
});
