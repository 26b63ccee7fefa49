import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const leaseId = "11111111-2222-3333-4444-555555555555";
const otherId = "99999999-2222-3333-4444-555555555555";

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  for (const name of ["fff", "ggg"]) {
    await sim.sendToDfs({ method: "PUT", path: `/${name}?resource=filesystem` });
  }
});

function create(path: string, kind = "file", headers: Record<string, string> = {}) {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

function rename(from: string, to: string, headers: Record<string, string> = {}) {
  const source = { "x-ms-rename-source": from, ...headers };
  return sim.sendToDfs({ method: "PUT", path: `${to}?mode=legacy`, headers: source });
}

async function listed(filesystem = "fff"): Promise<readonly string[]> {
  const path = `/${filesystem}?resource=filesystem&recursive=true`;
  const { body } = await sim.sendToDfs({ method: "GET", path });
  return (JSON.parse(body) as { paths: { name: string }[] }).paths.map(({ name }) => name);
}

describe("a rename", () => {
  it("moves a directory with everything below it and keeps its ETag", async () => {
    await create("dir/sub/file");
    const created = await create("dir", "directory");
    const moved = await rename("/fff/dir", "/fff/moved");
    expect(moved.status).toBe(201);
    expect(moved.headers["etag"]).toBe(created.headers["etag"]);
    expect(await listed()).toEqual(["moved", "moved/sub", "moved/sub/file"]);
    const head = await sim.sendToDfs({ method: "HEAD", path: "/fff/moved" });
    expect(head.headers["etag"]).toBe(created.headers["etag"]);
  });

  it("goes to another filesystem, with names escaped or not", async () => {
    await create("a%20b%2Fc");
    expect((await rename("/fff/a%20b%2Fc", "/ggg/d")).status).toBe(201);
    expect(await listed("ggg")).toEqual(["d"]);
    expect(await listed()).toEqual(["a b"]);
  });

  it.each([
    [{ "if-match": "*" }, 412],
    [{ "if-match": '"0x1"' }, 412],
    [{ "if-none-match": "*" }, 201],
  ])("to a path that does not exist with %j: %i", async (headers, status) => {
    await create("one");
    expect((await rename("/fff/one", "/fff/two", headers)).status).toBe(status);
    expect(await listed()).toEqual([status === 201 ? "two" : "one"]);
  });

  it("replaces a file or an empty directory, nothing else", async () => {
    for (const path of ["one", "two", "full/x"]) await create(path);
    for (const path of ["dir", "empty"]) await create(path, "directory");
    expect((await rename("/fff/one", "/fff/two")).status).toBe(201);
    expect((await rename("/fff/dir", "/fff/empty")).status).toBe(201);
    const full = await rename("/fff/empty", "/fff/full");
    expect([full.status, full.code]).toEqual([409, "PathAlreadyExists"]);
    const kinds = await rename("/fff/two", "/fff/empty");
    expect(kinds.code).toBe("InvalidSourceOrDestinationResourceType");
    expect(await listed()).toEqual(["empty", "full", "full/x", "two"]);
  });

  it("rejects impossible renames, and changes nothing", async () => {
    await create("dir/file");
    for (const [from, to, status, code] of [
      ["/fff/none", "/fff/x", 404, "SourcePathNotFound"],
      ["/none/file", "/fff/x", 404, "SourcePathNotFound"],
      ["/fff/dir", "/fff/dir/below", 409, "InvalidRenameSourcePath"],
      ["/fff/dir", "/fff/dir", 409, "InvalidRenameSourcePath"],
      ["/fff/dir", "/fff/no/parent", 404, "RenameDestinationParentPathNotFound"],
      ["/fff/dir", "/none/x", 404, "FilesystemNotFound"],
      ["/fff", "/fff/x", 409, "InvalidRenameSourcePath"],
    ] as const) {
      const refused = await rename(from, to);
      expect([from, to, refused.status, refused.code]).toEqual([from, to, status, code]);
    }
    expect(await listed()).toEqual(["dir", "dir/file"]);
  });

  it("checks conditions of both ends", async () => {
    const { headers: source } = await create("source");
    const { headers: target } = await create("target");
    const stale = '"0x1"';
    const attempts = [
      [{ "if-match": stale }, "ConditionNotMet"],
      [{ "x-ms-source-if-match": stale }, "SourceConditionNotMet"],
      [{ "if-none-match": "*" }, "PathAlreadyExists"],
    ] as const;
    for (const [headers, code] of attempts) {
      expect((await rename("/fff/source", "/fff/target", headers)).code).toBe(code);
    }
    const fresh = {
      "if-match": target["etag"] ?? "",
      "x-ms-source-if-match": source["etag"] ?? "",
    };
    expect((await rename("/fff/source", "/fff/target", fresh)).status).toBe(201);
  });

  it("needs the leases of both ends; the path stays leased", async () => {
    const leased = (id: string) => ({
      "x-ms-proposed-lease-id": id,
      "x-ms-lease-duration": "-1",
    });
    await create("source", "file", leased(leaseId));
    expect((await rename("/fff/source", "/fff/x")).code).toBe("LeaseIdMissing");
    const held = { "x-ms-source-lease-id": leaseId };
    expect((await rename("/fff/source", "/fff/x", held)).status).toBe(201);
    await create("target", "file", leased(otherId));
    expect((await rename("/fff/x", "/fff/target", held)).code).toBe("LeaseIdMissing");
    const both = { ...held, "x-ms-lease-id": otherId };
    expect((await rename("/fff/x", "/fff/target", both)).status).toBe(201);
    const head = await sim.sendToDfs({ method: "HEAD", path: "/fff/target" });
    expect(head.headers["x-ms-lease-state"]).toBe("leased");
    const without = { "x-ms-source-lease-id": leaseId };
    await create("plain");
    expect((await rename("/fff/plain", "/fff/y", without)).code).toBe("LeaseNotPresent");
    expect((await rename("/fff/plain", "/fff/y", { "x-ms-source-lease-id": "" })).status).toBe(201);
  });

  it("moves no file with snapshots, which have its path; a directory above it takes them along", async () => {
    await create("dir/file");
    const taken = await sim.send({ method: "PUT", path: "/fff/dir/file?comp=snapshot" });
    const at = `snapshot=${encodeURIComponent(taken.headers["x-ms-snapshot"] ?? "")}`;
    expect((await rename("/fff/dir/file", "/fff/x")).code).toBe("SnapshotsPresent");
    const removed = await sim.sendToDfs({ method: "DELETE", path: "/fff/dir/file" });
    expect([removed.status, removed.code]).toEqual([409, "SnapshotsPresent"]);
    expect((await rename("/fff/dir", "/fff/moved")).status).toBe(201);
    const read = (path: string) => sim.send({ method: "GET", path: `${path}?${at}` });
    expect((await read("/fff/moved/file")).status).toBe(200);
    expect((await read("/fff/dir/file")).status).toBe(404);
  });

  it("soft-deletes what it replaces, with the path of the destination", async () => {
    const policy = "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>5</Days>";
    const body = `<StorageServiceProperties>${policy}</DeleteRetentionPolicy></StorageServiceProperties>`;
    await sim.send({ method: "PUT", path: "/?restype=service&comp=properties", body });
    const block = { "x-ms-blob-type": "BlockBlob" };
    for (const path of ["old", "into/new"]) {
      await sim.send({ method: "PUT", path: `/fff/${path}`, headers: block, body: path });
    }
    await sim.send({ method: "PUT", path: "/fff/new", headers: block, body: "newer" });
    for (const path of ["dir", "empty"]) await create(path, "directory");
    expect((await rename("/fff/new", "/fff/old")).status).toBe(201);
    expect((await rename("/fff/dir", "/fff/empty")).status).toBe(201);
    await sim.send({ method: "PUT", path: "/fff/new", headers: block, body: "newest" });
    // In the other mode the destination is the entry of the directory.
    const source = { "x-ms-rename-source": "/fff/new" };
    await sim.sendToDfs({ method: "PUT", path: "/fff/into", headers: source });
    const path = "/fff?restype=container&comp=list&showonly=deleted";
    const { body: deleted } = await sim.send({ method: "GET", path });
    const names = Array.from(deleted.matchAll(/<Name>([^<]*)</g), ([, name]) => name);
    expect(names).toEqual(["empty", "into/new", "old"]);
    await sim.sendToDfs({ method: "DELETE", path: "/fff/old" });
    const id = /<Name>old<.*?<DeletionId>(\d+)</.exec(deleted)?.[1] ?? "";
    const undelete = { "x-ms-undelete-source": `old?deletionid=${id}` };
    const at = { method: "PUT", path: "/fff/old?comp=undelete" };
    expect((await sim.send({ ...at, headers: undelete })).status).toBe(200);
    expect((await sim.send({ method: "GET", path: "/fff/old" })).body).toBe("old");
  });

  it("is seen through the Blob API at once", async () => {
    await create("dir/file");
    await rename("/fff/dir", "/fff/moved");
    const at = (path: string) => sim.send({ method: "HEAD", path });
    expect((await at("/fff/moved/file")).status).toBe(200);
    expect((await at("/fff/dir/file")).code).toBe("BlobNotFound");
  });
});

describe.each([true, false])("with path-style URLs (hierarchical: %s)", (hierarchicalNamespace) => {
  const account = "devstoreaccount1";

  beforeEach(async () => {
    sim = await simBlob({ hierarchicalNamespace });
    for (const name of ["fff", account]) {
      await sim.sendToDfs({ method: "PUT", path: `/${name}?resource=filesystem` });
    }
  });

  const createIn = (filesystem: string, path: string) =>
    sim.sendToDfs({ method: "PUT", path: `/${filesystem}/${path}?resource=file` });
  const files = async (filesystem: string) =>
    (await listed(filesystem)).filter((path) => path.endsWith("file"));

  it.each([
    ["/fff/file", "of the service"],
    ["fff/file", "without a slash"],
    ["%2Ffff%2Ffile", "with escaped slashes"],
    [`/${account}/fff/file`, "of the Go library"],
    [`%2F${account}%2Ffff%2Ffile`, "of the Go library, escaped"],
  ])("takes the source %s, %s", async (source) => {
    await createIn("fff", "file");
    expect((await rename(source, "/fff/moved-file")).status).toBe(201);
    expect(await files("fff")).toEqual(["moved-file"]);
  });

  // The JavaScript library omits the account in the URL, which here starts with the filesystem.
  it.each(["moved-file", "Moved.file", "fresh/moved-file"])(
    "takes the destination %s of the JavaScript library in a filesystem with the account's name",
    async (path) => {
      await createIn(account, "file");
      await createIn(account, `${account}/file`);
      await createIn(account, "fresh/other");
      const moved = await rename(`/${account}/${account}/file`, `/${path}`);
      expect(moved.status).toBe(201);
      expect(await files(account)).toEqual([`${account}/file`, path].toSorted());
    },
  );

  it("takes the reading that exists, and the service's own one if both do", async () => {
    await createIn(account, "fff/file");
    await createIn("fff", "file");
    expect((await rename(`/${account}/fff/file`, "/fff/first-file")).status).toBe(201);
    expect([await files(account), await files("fff")]).toEqual([[], ["file", "first-file"]]);
    expect((await rename(`/${account}/fff/file`, "/fff/second-file")).status).toBe(201);
    expect(await files("fff")).toEqual(["first-file", "second-file"]);
    const missing = await rename(`/${account}/fff/file`, "/fff/third-file");
    expect([missing.status, missing.code]).toEqual([404, "SourcePathNotFound"]);
    const nowhere = await rename(`/${account}/fff/first-file`, "/none/file");
    expect([nowhere.status, nowhere.code]).toEqual([404, "RenameDestinationParentPathNotFound"]);
  });
});
