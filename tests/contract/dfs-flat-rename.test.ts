// Renames and versions through the Data Lake API on an account without a hierarchical namespace.
import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const leaseId = "11111111-2222-3333-4444-555555555555";

async function open(options: Parameters<typeof simBlob>[0] = {}): Promise<void> {
  sim = await simBlob(options);
  for (const name of ["fff", "ggg"]) {
    await sim.sendToDfs({ method: "PUT", path: `/${name}?resource=filesystem` });
  }
}

beforeEach(async () => open());

function create(path: string, kind = "file", headers: Record<string, string> = {}) {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

/** Writes a blob whose content is a tree of slices: one block for each letter. */
async function writeBlocks(path: string, letters: string): Promise<void> {
  const ids = letters.split("").map((_, at) => Buffer.from(String(1000 + at)).toString("base64"));
  for (const [at, letter] of letters.split("").entries()) {
    const query = `?comp=block&blockid=${encodeURIComponent(ids[at] ?? "")}`;
    await sim.send({ method: "PUT", path: `/fff/${path}${query}`, body: letter.repeat(5000) });
  }
  const latest = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  const body = `<BlockList>${latest}</BlockList>`;
  await sim.send({ method: "PUT", path: `/fff/${path}?comp=blocklist`, body });
}

function rename(from: string, to: string, query = "", headers: Record<string, string> = {}) {
  const source = { "x-ms-rename-source": from, ...headers };
  return sim.sendToDfs({ method: "PUT", path: `${to}?mode=legacy${query}`, headers: source });
}

async function listed(filesystem = "fff"): Promise<readonly string[]> {
  const path = `/${filesystem}?resource=filesystem&recursive=true`;
  const { body } = await sim.sendToDfs({ method: "GET", path });
  return (JSON.parse(body) as { paths: { name: string }[] }).paths.map(({ name }) => name);
}

async function textOf(path: string): Promise<string> {
  return (await sim.send({ method: "GET", path: `/fff/${path}` })).body;
}

async function turnSoftDeleteOn(): Promise<void> {
  const policy = "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days>";
  const body = `<StorageServiceProperties>${policy}</DeleteRetentionPolicy></StorageServiceProperties>`;
  await sim.send({ method: "PUT", path: "/?restype=service&comp=properties", body });
}

/** Name and state of everything in the filesystem, `include` being a parameter of List Blobs. */
async function kept(include: string): Promise<readonly string[]> {
  const path = `/fff?restype=container&comp=list&include=${include}`;
  const { body } = await sim.send({ method: "GET", path });
  return [...body.matchAll(/<Blob><Name>([^<]*)<\/Name>([^]*?)<Properties>/g)].map(
    ([, name = "", rest = ""]) => {
      const isCurrent = rest.includes("<IsCurrentVersion>true");
      return `${name}${rest.includes("<Deleted>true") ? " deleted" : isCurrent ? " current" : ""}`;
    },
  );
}

const manyLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const manyBytes = manyLetters
  .split("")
  .map((letter) => letter.repeat(5000))
  .join("");

describe("on a flat account a rename", () => {
  it("moves a directory with what is below it, in portions", async () => {
    await create("dir", "directory");
    for (let number = 0; number < 300; number += 1) await create(`dir/f${number}`);
    await create("dir2/file");
    const first = await rename("/fff/dir", "/ggg/new");
    const token = first.headers["x-ms-continuation"] ?? "";
    expect([first.status, token === ""]).toEqual([201, false]);
    expect([(await listed()).length, (await listed("ggg")).length]).toEqual([46, 256]);
    const query = `&continuation=${encodeURIComponent(token)}`;
    const last = await rename("/fff/dir", "/ggg/new", query);
    expect([last.status, last.headers["x-ms-continuation"]]).toEqual([201, undefined]);
    expect(await listed()).toEqual(["dir2/file"]);
    const names = await listed("ggg");
    expect([names.length, names.includes("new"), names.includes("new/f299")]).toEqual([
      301,
      true,
      true,
    ]);
    expect((await rename("/fff/dir", "/ggg/x")).code).toBe("SourcePathNotFound");
  });

  it("moves a directory that is only part of names, and a file without what its name begins", async () => {
    for (const path of ["implied/a", "implied/b/c", "file", "new/x"]) await create(path);
    // Only the Blob API creates a blob below the name of a file.
    const headers = { "x-ms-blob-type": "BlockBlob" };
    await sim.send({ method: "PUT", path: "/fff/file/below", headers });
    expect((await rename("/fff/implied", "/fff/new/place")).status).toBe(201);
    expect((await rename("/fff/file", "/fff/other")).status).toBe(201);
    const moved = ["new/place/a", "new/place/b/c", "new/x", "other"];
    expect(await listed()).toEqual(["file/below", ...moved]);
  });

  it("keeps content, headers, metadata and ETag", async () => {
    await writeBlocks("dir/file", manyLetters);
    const path = "/fff/dir/file?comp=metadata";
    const set = await sim.send({ method: "PUT", path, headers: { "x-ms-meta-a": "b" } });
    expect((await rename("/fff/dir", "/fff/moved")).status).toBe(201);
    const read = await sim.send({ method: "GET", path: "/fff/moved/file" });
    expect([read.headers["etag"], read.headers["x-ms-meta-a"]]).toEqual([set.headers["etag"], "b"]);
    expect(read.body === manyBytes).toBe(true);
  });

  it("replaces a file or an empty directory, nothing else", async () => {
    for (const path of ["one", "two", "full/x", "dir/y", "mark/y"]) await create(path);
    for (const path of ["dir", "mark", "empty"]) await create(path, "directory");
    expect((await rename("/fff/one", "/fff/two")).status).toBe(201);
    expect((await rename("/fff/dir", "/fff/empty")).status).toBe(201);
    const attempts = [
      ["/fff/empty", "/fff/full", "PathAlreadyExists"],
      ["/fff/two", "/fff/mark", "InvalidSourceOrDestinationResourceType"],
      ["/fff/mark", "/fff/two", "InvalidSourceOrDestinationResourceType"],
      ["/fff/mark", "/fff/mark/below", "InvalidRenameSourcePath"],
      ["/fff/full", "/fff/full/below", "InvalidRenameSourcePath"],
      ["/fff/two", "/fff/two", "InvalidRenameSourcePath"],
      ["/fff/none", "/fff/x", "SourcePathNotFound"],
      ["/fff/", "/fff/x", "InvalidRenameSourcePath"],
    ] as const;
    for (const [from, to, code] of attempts) {
      expect([from, to, (await rename(from, to)).code]).toEqual([from, to, code]);
    }
    expect(await listed()).toEqual(["empty", "empty/y", "full/x", "mark", "mark/y", "two"]);
  });

  it("never replaces an entry that appeared in the new directory between two portions", async () => {
    for (let number = 0; number < 257; number += 1) await create(`dir/f${1000 + number}`);
    const { headers } = await rename("/fff/dir", "/fff/new");
    const query = `&continuation=${encodeURIComponent(headers["x-ms-continuation"] ?? "")}`;
    const taken = await create("new/f1256");
    expect((await rename("/fff/dir", "/fff/new", query)).code).toBe("PathAlreadyExists");
    const head = await sim.send({ method: "HEAD", path: "/fff/new/f1256" });
    expect(head.headers["etag"]).toBe(taken.headers["etag"]);
    expect((await listed()).filter((name) => name.startsWith("dir"))).toEqual(["dir/f1256"]);
  });

  it("changes nothing if a blob below is leased or has snapshots, or a name would be too long", async () => {
    const lease = { "x-ms-proposed-lease-id": leaseId, "x-ms-lease-duration": "-1" };
    await create("dir/a");
    await create("dir/b", "file", lease);
    expect((await rename("/fff/dir", "/fff/new")).code).toBe("LeaseIdMissing");
    await create("other/a");
    await sim.send({ method: "PUT", path: "/fff/other/a?comp=snapshot" });
    expect((await rename("/fff/other", "/fff/new")).code).toBe("SnapshotsPresent");
    expect((await rename("/fff/other/a", "/fff/new")).code).toBe("SnapshotsPresent");
    await create(`long/${"x".repeat(1000)}`);
    expect((await rename("/fff/long", `/fff/${"y".repeat(30)}`)).status).toBe(400);
    expect((await listed()).slice(0, 2)).toEqual(["dir/a", "dir/b"]);
    expect(await listed()).toHaveLength(4);
    const held = { "x-ms-source-lease-id": leaseId };
    expect((await rename("/fff/dir/b", "/fff/new", "", held)).status).toBe(201);
    expect((await create("new")).code).toBe("LeaseIdMissing");
  });

  it("checks conditions of both ends", async () => {
    await create("source");
    await create("dir/a");
    await create("target");
    const stale = { "x-ms-source-if-match": '"0x1"' };
    expect((await rename("/fff/source", "/fff/x", "", stale)).code).toBe("SourceConditionNotMet");
    expect((await rename("/fff/dir", "/fff/x", "", stale)).code).toBe("SourceConditionNotMet");
    const free = { "if-none-match": "*" };
    expect((await rename("/fff/source", "/fff/target", "", free)).code).toBe("PathAlreadyExists");
    expect(await listed()).toEqual(["dir/a", "source", "target"]);
  });

  it("keeps versions of both ends where the account keeps versions", async () => {
    await open({ versioning: true });
    await writeBlocks("dir/file", manyLetters);
    await create("target");
    expect((await rename("/fff/dir/file", "/fff/target")).status).toBe(201);
    // The directory keeps a blob of its own, because nothing else is in it.
    const all = ["dir current", "dir/file", "target", "target current"];
    expect(await kept("versions")).toEqual(all);
    const path = "/fff?restype=container&comp=list&include=versions&prefix=dir/";
    const { body } = await sim.send({ method: "GET", path });
    const version = /<VersionId>([^<]*)</.exec(body)?.[1] ?? "";
    expect((await textOf(`dir/file?versionid=${version}`)) === manyBytes).toBe(true);
    expect((await textOf("target")) === manyBytes).toBe(true);
  });

  it("keeps soft-deleted states of both ends where the account keeps them", async () => {
    await turnSoftDeleteOn();
    await writeBlocks("file", manyLetters);
    await create("target");
    expect((await rename("/fff/file", "/fff/target")).status).toBe(201);
    expect(await kept("deleted,snapshots")).toEqual(["file deleted", "target deleted", "target"]);
    expect((await sim.send({ method: "PUT", path: "/fff/file?comp=undelete" })).status).toBe(200);
    expect((await textOf("file")) === manyBytes).toBe(true);
    expect((await textOf("target")) === manyBytes).toBe(true);
  });
});

describe("on a flat account with versioning", () => {
  beforeEach(async () => open({ versioning: true }));

  it("every flush and every change of metadata makes a version", async () => {
    await create("file");
    const patch = (query: string, body = "", headers: Record<string, string> = {}) =>
      sim.sendToDfs({ method: "PATCH", path: `/fff/file?action=${query}`, body, headers });
    expect((await patch("append&position=0", "one")).status).toBe(202);
    expect(await kept("versions")).toEqual(["file current"]);
    expect((await patch("flush&position=3")).status).toBe(200);
    expect((await patch("append&position=3&flush=true", "two")).status).toBe(202);
    const pair = { "x-ms-properties": "a=Yg==" };
    expect((await patch("setProperties", "", pair)).status).toBe(200);
    const type = { "x-ms-content-type": "text/plain" };
    expect((await patch("setProperties", "", type)).status).toBe(200);
    expect(await kept("versions")).toEqual(["file", "file", "file", "file current"]);
    const path = "/fff?restype=container&comp=list&include=versions";
    const { body } = await sim.send({ method: "GET", path });
    const versions = [...body.matchAll(/<VersionId>([^<]*)</g)].map(([, id = ""]) => id);
    const texts: string[] = [];
    for (const id of versions) texts.push(await textOf(`file?versionid=${id}`));
    expect(texts).toEqual(["", "one", "onetwo", "onetwo"]);
  });

  it("a deleted directory leaves versions that can be read", async () => {
    await writeBlocks("dir/file", manyLetters);
    const { status } = await sim.sendToDfs({ method: "DELETE", path: "/fff/dir?recursive=true" });
    expect(status).toBe(200);
    await sim.reclaim();
    const path = "/fff?restype=container&comp=list&include=versions";
    const { body } = await sim.send({ method: "GET", path });
    const version = /<VersionId>([^<]*)</.exec(body)?.[1] ?? "";
    expect((await textOf(`dir/file?versionid=${version}`)) === manyBytes).toBe(true);
  });
});
