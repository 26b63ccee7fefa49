// What Hadoop's file system (ABFS) relies on, beyond what other clients do.
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

const leaseId = "11111111-2222-3333-4444-555555555555";
const isNew = { "if-none-match": "*" };

function create(path: string, kind = "file", headers: Record<string, string> = {}) {
  const mark = path.includes("?") ? "" : "?";
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}${mark}resource=${kind}`, headers });
}

function changeAccess(path: string, headers: Record<string, string>) {
  const target = `/fff/${path}?action=setAccessControl`;
  return sim.sendToDfs({ method: "PATCH", path: target, headers });
}

async function aclOf(path: string): Promise<string | undefined> {
  const target = `/fff/${path}?action=getAccessControl`;
  const { headers } = await sim.sendToDfs({ method: "HEAD", path: target });
  return headers["x-ms-acl"];
}

/** Without a mode, as Hadoop sends it. */
function rename(from: string, to: string, headers: Record<string, string> = isNew) {
  const source = { "x-ms-rename-source": `/fff/${from}`, ...headers };
  return sim.sendToDfs({ method: "PUT", path: `/fff/${to}`, headers: source });
}

async function listed(): Promise<readonly string[]> {
  const path = "/fff?resource=filesystem&recursive=true";
  const { body } = await sim.sendToDfs({ method: "GET", path });
  return (JSON.parse(body) as { paths: { name: string }[] }).paths.map(({ name }) => name);
}

describe("a rename without the mode legacy", () => {
  it("moves into a destination that is a directory, also a full one", async () => {
    for (const path of ["one/two/file", "full/other", "single"]) await create(path);
    expect((await rename("one/two", "full")).status).toBe(201);
    expect((await rename("single", "full")).status).toBe(201);
    expect(await listed()).toEqual([
      "full",
      "full/other",
      "full/single",
      "full/two",
      "full/two/file",
      "one",
    ]);
  });

  it("moves into the root directory", async () => {
    await create("one/two/a%20b");
    expect((await rename("one/two/a%20b", "")).status).toBe(201);
    expect((await rename("one/two", "")).status).toBe(201);
    expect(await listed()).toEqual(["a b", "one", "two"]);
  });

  it("checks conditions on the entry, not on the directory", async () => {
    for (const path of ["one/two/file", "full/two/other"]) await create(path);
    const refused = await rename("one/two", "full");
    expect([refused.status, refused.code]).toEqual([409, "PathAlreadyExists"]);
    expect((await rename("one/two", "full", {})).code).toBe("PathAlreadyExists");
    expect(await listed()).toEqual([
      "full",
      "full/two",
      "full/two/other",
      "one",
      "one/two",
      "one/two/file",
    ]);
  });

  it("moves no directory into itself, and rejects other modes", async () => {
    await create("dir/file");
    expect((await rename("dir", "dir")).code).toBe("InvalidRenameSourcePath");
    expect((await rename("dir", "x?mode=other")).code).toBe("InvalidQueryParameterValue");
    expect((await rename("dir/none", "dir")).code).toBe("SourcePathNotFound");
    expect(await listed()).toEqual(["dir", "dir/file"]);
  });
});

describe("a listing", () => {
  it("of a file has the file alone", async () => {
    for (const path of ["dir/file", "dir/file2"]) await create(path);
    const of = "/fff?resource=filesystem&recursive=false&directory=";
    const { status, body } = await sim.sendToDfs({ method: "GET", path: `${of}dir/file` });
    expect(status).toBe(200);
    const { paths } = JSON.parse(body) as { paths: Record<string, string>[] };
    expect(paths.map(({ name, isDirectory }) => [name, isDirectory])).toEqual([
      ["dir/file", undefined],
    ]);
    const none = await sim.sendToDfs({ method: "GET", path: `${of}dir/none` });
    expect(none.code).toBe("PathNotFound");
  });

  it("starts with the entry that a token of Hadoop names", async () => {
    for (const path of ["dir/a", "dir/b", "dir/c/d"]) await create(path);
    const token = Buffer.from("-1234567890123456789 0 b").toString("base64");
    const query = `directory=dir&recursive=false&continuation=${encodeURIComponent(token)}`;
    const path = `/fff?resource=filesystem&${query}`;
    const { body } = await sim.sendToDfs({ method: "GET", path });
    const { paths } = JSON.parse(body) as { paths: { name: string }[] };
    expect(paths.map(({ name }) => name)).toEqual(["dir/b", "dir/c"]);
    const wrong = await sim.sendToDfs({ method: "GET", path: path.slice(0, -6) });
    expect(wrong.code).toBe("InvalidQueryParameterValue");
  });

  it("has at least one result in a page", async () => {
    const of = "/fff?resource=filesystem&recursive=false&maxResults=";
    for (const [results, code] of [
      ["0", "OutOfRangeQueryParameterValue"],
      ["-1", "OutOfRangeQueryParameterValue"],
      ["x", "InvalidQueryParameterValue"],
    ]) {
      const refused = await sim.sendToDfs({ method: "GET", path: `${of}${results}` });
      expect([refused.status, refused.code]).toEqual([400, code]);
    }
  });
});

describe("a create", () => {
  it("names the type of the path that exists", async () => {
    for (const [path, kind] of [
      ["some/dir", "directory"],
      ["some/file", "file"],
    ] as const) {
      await create(path, kind);
      const refused = await create(path, "directory", isNew);
      expect([refused.status, refused.code]).toEqual([409, "PathAlreadyExists"]);
      expect(refused.headers["x-ms-existing-resource-type"]).toBe(kind);
    }
  });

  it("finds a leased file taken before it finds it leased", async () => {
    const lease = { "x-ms-proposed-lease-id": leaseId, "x-ms-lease-duration": "-1" };
    await create("file", "file", lease);
    const taken = await create("file", "file", isNew);
    expect([taken.status, taken.code]).toEqual([409, "PathAlreadyExists"]);
    const { headers } = await sim.sendToDfs({ method: "HEAD", path: "/fff/file" });
    const locked = await create("file", "file", { "if-match": headers["etag"] ?? "" });
    expect([locked.status, locked.code]).toEqual([412, "LeaseIdMissing"]);
    expect(locked.body).toContain("There is currently a lease on the resource and no lease ID");
    const held = await create("file", "file", { ...isNew, "x-ms-lease-id": leaseId });
    expect(held.status).toBe(201);
  });

  it("makes an append blob where that is asked for", async () => {
    expect((await create("log?blobtype=appendblob&")).status).toBe(201);
    const read = () => sim.sendToDfs({ method: "GET", path: "/fff/log" });
    const write = (action: string, body = "") =>
      sim.sendToDfs({
        method: "PATCH",
        path: `/fff/log?action=${action}`,
        body: Buffer.from(body),
      });
    const before = (await read()).headers["etag"];
    expect((await write("append&position=0", "line ")).status).toBe(202);
    expect((await write("append&position=0", "lost")).code).toBe("InvalidQueryParameterValue");
    expect((await write("append&position=5", "two")).status).toBe(202);
    const { headers, body } = await read();
    expect([headers["x-ms-blob-type"], body]).toEqual(["AppendBlob", "line two"]);
    expect(headers["etag"]).not.toBe(before);
    expect((await write("flush&position=8")).status).toBe(200);
    expect((await write("flush&position=7")).code).toBe("InvalidFlushPosition");
    const path = "/fff/log?comp=appendblock";
    const other = await sim.send({ method: "PUT", path, body: Buffer.from("line") });
    expect([other.status, other.code]).toEqual([409, "BlobOperationNotSupported"]);
    const page = await create("log?blobtype=pageblob&");
    expect(page.code).toBe("InvalidQueryParameterValue");
  });

  it("stores the transaction id of the client, and so does a rename", async () => {
    const idOf = async (path: string) => {
      const status = await sim.sendToDfs({ method: "HEAD", path: `/fff/${path}?action=getStatus` });
      const all = await sim.sendToDfs({ method: "HEAD", path: `/fff/${path}` });
      expect(all.headers["x-ms-client-transaction-id"]).toBe(
        status.headers["x-ms-client-transaction-id"],
      );
      return status.headers["x-ms-client-transaction-id"];
    };
    const header = "x-ms-client-transaction-id";
    await create("file", "file", { [header]: "first" });
    expect(await idOf("file")).toBe("first");
    expect((await rename("file", "moved", { [header]: "second" })).status).toBe(201);
    expect(await idOf("moved")).toBe("second");
    await create("moved");
    expect(await idOf("moved")).toBeUndefined();
    const long = await create("long", "file", { [header]: "x".repeat(129) });
    expect(long.code).toBe("InvalidHeaderValue");
  });
});

describe("a list of access control entries", () => {
  it("that lacks those of owner, group and other keeps them", async () => {
    await create("dir", "directory");
    for (const [sent, stored] of [
      ["other::r-x", "user::rwx,group::r-x,other::r-x"],
      ["mask::--x", "user::rwx,group::r-x,mask::--x,other::r-x"],
      [
        `default:user:${leaseId}:rwx`,
        "user::rwx,group::r-x,mask::--x,other::r-x,default:user::rwx," +
          `default:user:${leaseId}:rwx,default:group::r-x,default:mask::rwx,default:other::r-x`,
      ],
      ["user::rw-", "user::rw-,group::r-x,other::r-x"],
    ] as const) {
      expect((await changeAccess("dir", { "x-ms-acl": sent })).status).toBe(200);
      expect(await aclOf("dir")).toBe(stored);
    }
  });
});

describe("a path with a customer-provided key", () => {
  const key = Buffer.alloc(32, 7);
  const sha256 = createHash("sha256").update(key).digest("base64");
  const keyed = {
    "x-ms-encryption-key": key.toString("base64"),
    "x-ms-encryption-key-sha256": sha256,
    "x-ms-encryption-algorithm": "AES256",
  };

  it("has a status without the key, and the hash of the key where it is used", async () => {
    await create("file", "file", { ...keyed, "x-ms-encryption-context": "context" });
    const status = await sim.sendToDfs({ method: "HEAD", path: "/fff/file?action=getStatus" });
    expect([status.status, status.headers["x-ms-encryption-context"]]).toEqual([200, "context"]);
    const all = await sim.sendToDfs({ method: "HEAD", path: "/fff/file?upn=false" });
    expect([all.status, all.code]).toEqual([409, "BlobUsesCustomerSpecifiedEncryption"]);
    const path = "/fff/file?action=setProperties";
    const headers = { ...keyed, "x-ms-properties": "a=YQ==" };
    const set = await sim.sendToDfs({ method: "PATCH", path, headers });
    expect([set.status, set.headers["x-ms-encryption-key-sha256"]]).toEqual([200, sha256]);
    const of = "/fff?resource=filesystem&recursive=false";
    const { body } = await sim.sendToDfs({ method: "GET", path: of });
    expect(JSON.parse(body)).toMatchObject({
      paths: [{ CustomerProvidedKeySha256: sha256, EncryptionContext: "context", name: "file" }],
    });
  });
});

describe("a refused request", () => {
  it("has no type of a body that it does not have", async () => {
    const read = await sim.sendToDfs({ method: "HEAD", path: "/fff/none?action=getStatus" });
    expect([read.status, read.code]).toEqual([404, "PathNotFound"]);
    expect(read.headers["content-type"]).toBeUndefined();
    const removed = await sim.sendToDfs({ method: "DELETE", path: "/fff/none" });
    expect(removed.headers["content-type"]).toBe("application/json; charset=utf-8");
  });
});

describe("the root directory", () => {
  it("has access control, and no properties", async () => {
    expect((await changeAccess("", { "x-ms-permissions": "0777" })).status).toBe(200);
    expect(await aclOf("")).toBe("user::rwx,group::rwx,other::rwx");
    const read = await sim.sendToDfs({ method: "HEAD", path: "/fff/?upn=false" });
    expect([read.status, read.code]).toEqual([400, "InvalidUri"]);
    const path = "/fff/?action=setProperties";
    const headers = { "x-ms-properties": "a=YQ==" };
    const written = await sim.sendToDfs({ method: "PATCH", path, headers });
    expect([written.status, written.code]).toEqual([400, "InvalidUri"]);
  });
});
