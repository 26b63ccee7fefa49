import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const leaseId = "11111111-2222-3333-4444-555555555555";

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

function create(path: string, kind = "file", headers: Record<string, string> = {}) {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

function head(path: string, headers: Record<string, string> = {}) {
  return sim.sendToDfs({ method: "HEAD", path: `/fff/${path}`, headers });
}

async function listed(query = "recursive=true"): Promise<readonly string[]> {
  const path = `/fff?resource=filesystem&${query}`;
  const { body } = await sim.sendToDfs({ method: "GET", path });
  const { paths } = JSON.parse(body) as { paths: { name: string; isDirectory?: string }[] };
  return paths.map(({ name, isDirectory }) => (isDirectory === "true" ? `${name}/` : name));
}

describe("creating", () => {
  it("makes the directories on the way", async () => {
    const created = await create("a/b/file");
    expect(created.status).toBe(201);
    expect(created.headers["etag"]).toBeDefined();
    expect(await listed()).toEqual(["a/", "a/b/", "a/b/file"]);
  });

  it("replaces a file and its content, but not under If-None-Match: *", async () => {
    const first = await create("file");
    const again = await create("file", "file", { "if-none-match": "*" });
    expect([again.status, again.code]).toEqual([409, "PathAlreadyExists"]);
    const second = await create("file");
    expect(second.status).toBe(201);
    expect(second.headers["etag"]).not.toBe(first.headers["etag"]);
    const stale = await create("file", "file", { "if-match": first.headers["etag"] ?? "" });
    expect([stale.status, stale.code]).toEqual([412, "ConditionNotMet"]);
  });

  it("keeps what is below a directory that is created again", async () => {
    await create("dir/file");
    expect((await create("dir", "directory")).status).toBe(201);
    expect(await listed()).toEqual(["dir/", "dir/file"]);
  });

  it("rejects a file in place of a directory, the reverse, and a file as a parent", async () => {
    await create("dir", "directory");
    await create("file");
    expect((await create("dir")).code).toBe("PathConflict");
    expect((await create("file", "directory")).code).toBe("PathConflict");
    expect((await create("file/below")).code).toBe("PathConflict");
    expect(await listed()).toEqual(["dir/", "file"]);
  });

  it("needs the lease of a leased path and keeps it", async () => {
    const lease = { "x-ms-proposed-lease-id": leaseId, "x-ms-lease-duration": "-1" };
    await create("file", "file", lease);
    expect((await create("file")).code).toBe("LeaseIdMissing");
    expect((await create("file", "file", { "x-ms-lease-id": leaseId })).status).toBe(201);
    expect((await head("file")).headers["x-ms-lease-state"]).toBe("leased");
    expect((await create("other", "file", { "x-ms-lease-id": leaseId })).code).toBe(
      "LeaseNotPresent",
    );
  });

  it("takes properties, content headers and an encryption context", async () => {
    await create("file", "file", {
      "x-ms-properties": "one=MQ==,two=Mg==",
      "x-ms-content-type": "text/plain",
      "x-ms-encryption-context": "context",
    });
    const { headers } = await head("file");
    expect(headers["x-ms-properties"]).toBe("one=MQ==,two=Mg==");
    expect(headers["content-type"]).toBe("text/plain");
    const blob = await sim.send({ method: "HEAD", path: "/fff/file" });
    expect(blob.headers["x-ms-meta-one"]).toBe("1");
    const malformed = await create("bad", "file", { "x-ms-properties": "one=*" });
    expect(malformed.status).toBe(400);
    expect((await head("bad")).code).toBe("PathNotFound");
  });

  it("ends a file at its expiry time", async () => {
    const headers = { "x-ms-expiry-option": "RelativeToNow", "x-ms-expiry-time": "60000" };
    await create("file", "file", headers);
    sim.clock.advance(60_001);
    expect((await head("file")).code).toBe("PathNotFound");
    expect(await listed()).toEqual([]);
  });
});

describe("deleting", () => {
  it("takes a directory that is not empty only recursively, at once", async () => {
    await create("dir/sub/file");
    const refused = await sim.sendToDfs({ method: "DELETE", path: "/fff/dir" });
    expect([refused.status, refused.code]).toEqual([409, "DirectoryNotEmpty"]);
    const deleted = await sim.sendToDfs({ method: "DELETE", path: "/fff/dir?recursive=true" });
    expect(deleted.status).toBe(200);
    expect(await listed()).toEqual([]);
    await create("dir", "directory");
    expect(await listed()).toEqual(["dir/"]);
    expect((await sim.sendToDfs({ method: "DELETE", path: "/fff/dir" })).status).toBe(200);
  });

  it("checks conditions and leases, and never the root directory", async () => {
    await create("file");
    const stale = { "if-match": '"0x1"' };
    const refused = await sim.sendToDfs({ method: "DELETE", path: "/fff/file", headers: stale });
    expect([refused.status, refused.code]).toEqual([412, "ConditionNotMet"]);
    const root = await sim.sendToDfs({ method: "DELETE", path: "/fff/?recursive=true" });
    expect(root.status).toBe(400);
    const gone = await sim.sendToDfs({ method: "DELETE", path: "/fff/none" });
    expect([gone.status, gone.code]).toEqual([404, "PathNotFound"]);
  });
});

describe("listing", () => {
  beforeEach(async () => {
    for (const path of ["a/1", "a/b/2", "a-b", "c"]) await create(path);
  });

  it("puts a directory before its entries, in the order of names", async () => {
    expect(await listed()).toEqual(["a/", "a/1", "a/b/", "a/b/2", "a-b", "c"]);
    expect(await listed("recursive=false")).toEqual(["a/", "a-b", "c"]);
    expect(await listed("recursive=true&directory=a")).toEqual(["a/1", "a/b/", "a/b/2"]);
    expect(await listed("recursive=false&directory=a%2Fb")).toEqual(["a/b/2"]);
    expect(await listed("recursive=true&beginFrom=a-b")).toEqual(["a-b", "c"]);
  });

  it("goes on page by page, with another size as well", async () => {
    const seen: string[] = [];
    let token = "";
    for (let page = 1; page <= 10; page += 1) {
      const from = token === "" ? "" : `&continuation=${encodeURIComponent(token)}`;
      const path = `/fff?resource=filesystem&recursive=true&maxResults=${page}${from}`;
      const { headers, body } = await sim.sendToDfs({ method: "GET", path });
      const { paths } = JSON.parse(body) as { paths: { name: string }[] };
      expect(paths.length).toBeLessThanOrEqual(page);
      seen.push(...paths.map(({ name }) => name));
      token = headers["x-ms-continuation"] ?? "";
      if (token === "") break;
    }
    expect(seen).toEqual(["a", "a/1", "a/b", "a/b/2", "a-b", "c"]);
  });

  it("answers texts only, keys in order", async () => {
    // Also of a directory that exists only because the path of another needs it.
    await create("a/b", "directory");
    const path = "/fff?resource=filesystem&recursive=false&maxResults=1";
    const { body } = await sim.sendToDfs({ method: "GET", path });
    const [entry = {}] = (JSON.parse(body) as { paths: object[] }).paths;
    expect(Object.keys(entry)).toEqual([
      "contentLength",
      "creationTime",
      "etag",
      "expiryTime",
      "group",
      "isDirectory",
      "lastModified",
      "name",
      "owner",
      "permissions",
    ]);
    expect(Object.values(entry).every((value) => typeof value === "string")).toBe(true);
  });

  it("knows what is not there", async () => {
    const at = (path: string) => sim.sendToDfs({ method: "GET", path });
    const none = await at("/none?resource=filesystem&recursive=true");
    expect([none.status, none.code]).toEqual([404, "FilesystemNotFound"]);
    const directory = await at("/fff?resource=filesystem&recursive=true&directory=none");
    expect([directory.status, directory.code]).toEqual([404, "PathNotFound"]);
  });
});

describe("properties", () => {
  it("are replaced as a whole, other headers one by one", async () => {
    const old = { "x-ms-properties": "one=MQ==", "x-ms-content-type": "text/plain" };
    const created = await create("file", "file", { ...old, "x-ms-cache-control": "none" });
    const path = "/fff/file?action=setProperties";
    const headers = { "x-ms-properties": "two=Mg==", "x-ms-content-type": "text/html" };
    const set = await sim.sendToDfs({ method: "PATCH", path, headers });
    expect(set.status).toBe(200);
    const { headers: now } = await head("file");
    expect(now["etag"]).not.toBe(created.headers["etag"]);
    expect([now["x-ms-properties"], now["content-type"], now["cache-control"]]).toEqual([
      "two=Mg==",
      "text/html",
      "none",
    ]);
  });

  it("of a filesystem", async () => {
    const path = "/fff?resource=filesystem";
    const headers = { "x-ms-properties": "key=dmFsdWU=" };
    expect((await sim.sendToDfs({ method: "PATCH", path, headers })).status).toBe(200);
    const got = await sim.sendToDfs({ method: "HEAD", path });
    expect(got.headers["x-ms-properties"]).toBe("key=dmFsdWU=");
    expect(got.headers["x-ms-namespace-enabled"]).toBe("true");
    const all = await sim.sendToDfs({ method: "GET", path: "/?resource=account" });
    expect(JSON.parse(all.body)).toMatchObject({ filesystems: [{ name: "fff" }] });
    expect((await sim.sendToDfs({ method: "DELETE", path })).status).toBe(202);
    expect((await sim.sendToDfs({ method: "HEAD", path })).code).toBe("FilesystemNotFound");
  });
});
