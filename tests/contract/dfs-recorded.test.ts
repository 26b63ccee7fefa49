// What recordings and the tests of the official libraries show of the Data Lake API.
import { beforeEach, describe, expect, it } from "vitest";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { directoryToken, filesystemToken, lakeWorld } from "../auth/lake-world.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const leaseId = "11111111-2222-3333-4444-555555555555";

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

type Headers = Record<string, string>;

function create(path: string, kind = "file", headers: Headers = {}) {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

function patch(path: string, query: string, headers: Headers = {}, body = "") {
  return sim.sendToDfs({ method: "PATCH", path: `/fff/${path}?${query}`, headers, body });
}

async function outcome(answer: Promise<{ status: number; code: string | undefined }>) {
  const { status, code } = await answer;
  return [status, code];
}

describe("a read", () => {
  it.each([
    ["2021-06-08", undefined, undefined, undefined],
    ["2022-11-02", "AAAAAAAAAAA=", "", undefined],
    ["2024-05-04", undefined, "", "user::rw-,group::r--,other::---"],
  ])("in version %s has the checksum %s, properties %j and list %s", async (...row) => {
    const [version, crc64, properties, acl] = row;
    await create("file");
    await patch("file", "action=append&position=0&flush=true", {}, "content");
    for (const method of ["GET", "HEAD"]) {
      const headers = { "x-ms-version": version };
      const read = await sim.sendToDfs({ method, path: "/fff/file", headers });
      const found = ["x-ms-content-crc64", "x-ms-properties", "x-ms-acl"];
      expect(found.map((name) => read.headers[name])).toEqual([crc64, properties, acl]);
      const byBlob = await sim.send({ method, path: "/fff/file", headers });
      expect(byBlob.headers["x-ms-acl"]).toBe(acl);
    }
  });

  it.each([
    ["2021-06-08", "available"],
    ["2021-08-06", undefined],
  ])("by a query in version %s has the lease state %s and no owner", async (version, state) => {
    await create("file");
    const body =
      "<QueryRequest><QueryType>SQL</QueryType>" +
      "<Expression>SELECT * FROM BlobStorage</Expression></QueryRequest>";
    const headers = { "x-ms-version": version };
    const path = "/fff/file?comp=query";
    const { status, headers: sent } = await sim.send({ method: "POST", path, headers, body });
    const names = ["lease-state", "owner", "group", "permissions", "resource-type"];
    expect([status, ...names.map((name) => sent[`x-ms-${name}`])]).toEqual([
      200,
      state,
      undefined,
      undefined,
      undefined,
      "file",
    ]);
  });
});

it.each([
  ["2023-11-03", "text/plain"],
  ["2025-01-05", "application/octet-stream"],
])("a flush without a content type in version %s leaves %s", async (version, type) => {
  await create("file", "file", { "x-ms-content-type": "text/plain" });
  await patch("file", "action=append&position=0", {}, "content");
  await patch("file", "action=flush&position=7", { "x-ms-version": version });
  const { headers } = await sim.sendToDfs({ method: "HEAD", path: "/fff/file" });
  expect(headers["content-type"]).toBe(type);
});

describe("an expiry", () => {
  const expiry = (option: string, time: string) => ({
    "x-ms-expiry-option": option,
    "x-ms-expiry-time": time,
  });

  it("is not for directories", async () => {
    const headers = expiry("RelativeToNow", "30000");
    const refused = await create("dir", "directory", headers);
    expect([refused.status, refused.code]).toEqual([400, "ExpiryNotSupportedForDirectory"]);
    expect((await create("file", "file", headers)).status).toBe(201);
  });

  it("relative to the creation may be past: the file then expires at once", async () => {
    await create("file");
    sim.clock.advance(60_000);
    const set = (option: string) => {
      const headers = expiry(option, option === "Absolute" ? "Thu, 01 Jan 1970 00:00:00 GMT" : "1");
      return sim.send({ method: "PUT", path: "/fff/file?comp=expiry", headers });
    };
    expect((await set("Absolute")).status).toBe(400);
    expect((await set("RelativeToCreation")).status).toBe(200);
    expect((await sim.sendToDfs({ method: "HEAD", path: "/fff/file" })).status).toBe(404);
  });
});

describe("an expired lease", () => {
  const leased = { "x-ms-proposed-lease-id": leaseId, "x-ms-lease-duration": "15" };
  const held = { "x-ms-lease-id": leaseId };
  const renewal = { ...held, "x-ms-lease-action": "auto-renew" };
  const append = "action=append&position=0";

  beforeEach(async () => {
    await create("file", "file", leased);
    sim.clock.advance(16_000);
  });

  it("is renewed by an append or a flush that asks for it, and by no other write", async () => {
    expect(await outcome(patch("file", append, held, "a"))).toEqual([412, "LeaseLost"]);
    const renewed = await patch("file", append, renewal, "a");
    expect([renewed.status, renewed.headers["x-ms-lease-renewed"]]).toEqual([202, "true"]);
    expect(await outcome(patch("file", append, {}, "a"))).toEqual([412, "LeaseIdMissing"]);
    sim.clock.advance(16_000);
    expect((await patch("file", "action=flush&position=1", renewal)).status).toBe(200);
    const { headers } = await sim.sendToDfs({ method: "HEAD", path: "/fff/file" });
    expect(headers["x-ms-lease-state"]).toBe("leased");
  });

  it("is not renewed with another id", async () => {
    const other = { ...renewal, "x-ms-lease-id": leaseId.replace("1", "2") };
    expect(await outcome(patch("file", append, other, "a"))).toEqual([412, "LeaseLost"]);
  });
});

describe("a filesystem", () => {
  const lease = (headers: Headers) =>
    sim.sendToDfs({ method: "PUT", path: "/fff?restype=container&comp=lease", headers });

  it("has no lease id in the response to a break", async () => {
    const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    expect((await lease(acquire)).headers["x-ms-lease-id"]).toBeDefined();
    const broken = await lease({ "x-ms-lease-action": "break" });
    expect([broken.status, broken.headers["x-ms-lease-id"]]).toEqual([202, undefined]);
  });

  it.each([
    ["2021-06-08", [200, undefined]],
    ["2023-11-03", [400, "InvalidQueryParameterValue"]],
  ])("in version %s is renamed with the lease id of the source: %j", async (version, expected) => {
    const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    const { headers: leased } = await lease(acquire);
    const headers = {
      "x-ms-version": version,
      "x-ms-source-container-name": "fff",
      "x-ms-source-lease-id": leased["x-ms-lease-id"] ?? "",
    };
    const path = "/new?restype=container&comp=rename";
    expect(await outcome(sim.send({ method: "PUT", path, headers }))).toEqual(expected);
  });

  it("of logs is listed with the system's containers", async () => {
    const list = async (query: string) => {
      const { body } = await sim.send({ method: "GET", path: `/?comp=list${query}` });
      return Array.from(body.matchAll(/<Name>([^<]*)</g), ([, name]) => name);
    };
    expect(await list("")).toEqual(["fff"]);
    expect(await list("&include=system")).toEqual(["$logs", "fff"]);
    expect(await list("&include=system&prefix=f")).toEqual(["fff"]);
    await sim.send({ method: "PUT", path: "/$logs?restype=container" });
    expect(await list("&include=system")).toEqual(["$logs", "fff"]);
  });
});

describe("a new path", () => {
  const deep = (segments: number) => Array.from({ length: segments }, () => "d").join("/");

  it.each([
    [deep(60), 201, undefined],
    [deep(61), 400, "PathIsTooDeep"],
    ["n".repeat(255), 201, undefined],
    ["n".repeat(256), 400, "InvalidUri"],
    ["dir/%2e%2e", 400, "InvalidUri"],
    ["%2E/file", 400, "InvalidUri"],
    ["...", 201, undefined],
  ])("%s: %i", async (path, status, code) => {
    expect(await outcome(create(path, "directory"))).toEqual([status, code]);
    const blob = {
      method: "PUT",
      path: `/fff/${path}`,
      headers: { "x-ms-blob-type": "BlockBlob" },
    };
    if (code !== undefined) expect((await sim.send(blob)).code).toBe(code);
    await create("source");
    const source = { "x-ms-rename-source": "/fff/source" };
    const renamed = await sim.sendToDfs({
      method: "PUT",
      path: `/fff/${path}?mode=legacy`,
      headers: source,
    });
    if (code !== undefined) expect(renamed.code).toBe(code);
  });
});

describe("tags on a hierarchical account", () => {
  it("are set with a file or later, and found by path", async () => {
    const put = { "x-ms-blob-type": "BlockBlob", "x-ms-tags": "kind=a" };
    await sim.send({ method: "PUT", path: "/fff/dir/sub/one", headers: put });
    await create("two");
    const body = "<Tags><TagSet><Tag><Key>kind</Key><Value>a</Value></Tag></TagSet></Tags>";
    const set = await sim.send({ method: "PUT", path: "/fff/two?comp=tags", body });
    expect(set.status).toBe(204);
    expect((await sim.send({ method: "GET", path: "/fff/two?comp=tags" })).body).toContain("kind");
    await sim.sendToDfs({ method: "PUT", path: "/ggg?resource=filesystem" });
    await sim.send({ method: "PUT", path: "/ggg/other", headers: put });
    const find = async (path: string) => {
      const where = encodeURIComponent("\"kind\"='a'");
      const { body: found } = await sim.send({ method: "GET", path: `${path}&where=${where}` });
      return Array.from(found.matchAll(/<Name>([^<]*)</g), ([, name = ""]) => name).toSorted();
    };
    expect(await find("/?comp=blobs")).toEqual(["dir/sub/one", "other", "two"]);
    expect(await find("/fff?restype=container&comp=blobs")).toEqual(["dir/sub/one", "two"]);
    const source = { "x-ms-rename-source": "/fff/dir" };
    await sim.sendToDfs({ method: "PUT", path: "/fff/moved?mode=legacy", headers: source });
    expect(await find("/fff?restype=container&comp=blobs")).toEqual(["moved/sub/one", "two"]);
    await sim.sendToDfs({ method: "DELETE", path: "/fff/moved?recursive=true" });
    expect(await find("/fff?restype=container&comp=blobs")).toEqual(["two"]);
  });
});

describe("an append by a caller without a role", () => {
  it.each([
    ["-w-", [403, "AuthorizationPermissionMismatch"]],
    ["rw-", [202, undefined]],
  ])("needs read and write permission: %s", async (bits, expected) => {
    const me: Principal = { kind: "bearer", objectId: "me", tenantId: "t" };
    await patch("", "action=setAccessControl", { "x-ms-permissions": "0777" });
    await create("file");
    const acl = `user::rw-,user:me:${bits},group::---,mask::rwx,other::---`;
    await patch("file", "action=setAccessControl", { "x-ms-acl": acl });
    sim.callAs(me);
    expect(await outcome(patch("file", "action=append&position=0", {}, "a"))).toEqual(expected);
    sim.callAs(keyPrincipal);
  });
});

describe.each([true, false])("a SAS (hierarchical: %s)", (hierarchicalNamespace) => {
  it("for a directory is valid for what is in it", async () => {
    const lake = await lakeWorld(hierarchicalNamespace);
    const token = directoryToken("aaa", "from", "racwdl");
    const status = async (path: string) => {
      const { status: got, code } = await lake.sendAs({ method: "HEAD", path: `${path}?${token}` });
      return code ?? got;
    };
    expect(await status("/aaa/from/file")).toBe(200);
    expect(await status("/aaa/to/old")).toBe("AuthenticationFailed");
    expect(await status("/aaa/")).toBe("AuthenticationFailed");
    const deeper = directoryToken("aaa", "from/file/x", "racwdl");
    const above = await lake.sendAs({ method: "HEAD", path: `/aaa/from?${deeper}` });
    expect(above.code).toBe("AuthenticationFailed");
  });

  it("replaces headers of HEAD and GET", async () => {
    const lake = await lakeWorld(hierarchicalNamespace);
    const token = filesystemToken("aaa", "r", { cacheControl: "no-store", contentType: "text/a" });
    for (const method of ["HEAD", "GET"]) {
      const { headers } = await lake.sendAs({ method, path: `/aaa/from/file?${token}` });
      expect([headers["cache-control"], headers["content-type"]]).toEqual(["no-store", "text/a"]);
    }
  });
});
