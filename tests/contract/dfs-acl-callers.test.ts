// What access control lists permit to callers with a bearer token, beyond single paths.
import { beforeEach, describe, expect, it } from "vitest";
import { checkTreeDeletion } from "../../src/blob/dfs/delete-access.ts";
import { blobs, type BlobRecord } from "../../src/blob/records.ts";
import { Records } from "../../src/operation/records.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const groups = ["team"];
const me: Principal = { kind: "bearer", objectId: "me", tenantId: "t", groups };
const other: Principal = { kind: "bearer", objectId: "other", tenantId: "t" };
const denied = [403, "AuthorizationPermissionMismatch"];
const open = { "x-ms-permissions": "0777", "x-ms-umask": "0000" };

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
  await setAccess("", { "x-ms-permissions": "0777" });
  sim.callAs(me);
});

function create(path: string, kind = "file", headers: Record<string, string> = {}) {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

function setAccess(path: string, headers: Record<string, string>, action = "setAccessControl") {
  return sim.sendToDfs({ method: "PATCH", path: `/fff/${path}?action=${action}`, headers });
}

async function outcome(answer: Promise<{ status: number; code: string | undefined }>) {
  const { status, code } = await answer;
  return [status, code];
}

async function ownersOf(path: string) {
  const at = `/fff/${path}?action=getAccessControl`;
  const { headers } = await sim.sendToDfs({ method: "HEAD", path: at });
  return [headers["x-ms-owner"], headers["x-ms-group"]];
}

async function allBlobs(view: Records) {
  const found: { readonly name: unknown; readonly record: BlobRecord }[] = [];
  for await (const batch of view.scan(blobs, blobs.range([]))) {
    for (const { key, record } of batch) found.push({ name: blobs.parts(key)[1], record });
  }
  return found;
}

describe("the owner of a path", () => {
  it("is changed by a superuser alone; the group by the owner, to one of its own", async () => {
    await create("file", "file");
    expect(await outcome(setAccess("file", { "x-ms-owner": "other" }))).toEqual(denied);
    expect(await outcome(setAccess("file", { "x-ms-group": "strangers" }))).toEqual(denied);
    expect(await ownersOf("file")).toEqual(["me", "$superuser"]);
    const same = { "x-ms-owner": "me", "x-ms-group": "team" };
    expect((await setAccess("file", same)).status).toBe(200);
    expect(await ownersOf("file")).toEqual(["me", "team"]);
    sim.callAs(keyPrincipal);
    await setAccess("file", { "x-ms-owner": "other", "x-ms-group": "strangers" });
    expect(await ownersOf("file")).toEqual(["other", "strangers"]);
  });

  it("is the caller who creates it, whatever the request says", async () => {
    expect(await outcome(create("new", "file", { "x-ms-owner": "other" }))).toEqual(denied);
    expect(await outcome(create("new", "file", { "x-ms-group": "strangers" }))).toEqual(denied);
    const own = { "x-ms-owner": "me", "x-ms-group": "team" };
    expect((await create("new", "file", own)).status).toBe(201);
    expect(await ownersOf("new")).toEqual(["me", "team"]);
  });
});

describe("a recursive deletion", () => {
  const remove = (query = "") =>
    sim.sendToDfs({ method: "DELETE", path: `/fff/dir?recursive=true${query}` });

  it("needs all permissions on every directory below, and deletes nothing without them", async () => {
    await create("dir/sub/file");
    sim.callAs(keyPrincipal);
    await create("dir/sub/private", "directory");
    sim.callAs(me);
    expect(await outcome(remove())).toEqual(denied);
    sim.callAs(keyPrincipal);
    expect((await sim.send({ method: "GET", path: "/fff/dir/sub/file" })).status).toBe(200);
    await setAccess("dir/sub/private", {
      "x-ms-acl": "user::rwx,user:me:rwx,group::---,other::---",
    });
    sim.callAs(me);
    expect((await remove()).status).toBe(200);
    expect((await sim.send({ method: "HEAD", path: "/fff/dir" })).status).toBe(404);
  });

  it("removes no path of another owner from a directory with the sticky bit", async () => {
    sim.callAs(keyPrincipal);
    await create("dir", "directory", { ...open, "x-ms-permissions": "1777" });
    sim.callAs(other);
    await create("dir/theirs");
    sim.callAs(me);
    await create("dir/mine");
    expect(await outcome(remove())).toEqual(denied);
    sim.callAs(other);
    await sim.sendToDfs({ method: "DELETE", path: "/fff/dir/theirs" });
    sim.callAs(me);
    expect((await remove()).status).toBe(200);
  });

  it("cannot skip lists with a token, and checks a limited number of paths", async () => {
    await create("dir/file");
    sim.callAs(keyPrincipal);
    await create("dir/private", "directory");
    sim.callAs(me);
    const token = encodeURIComponent(Buffer.from("0 1 dir/z").toString("base64"));
    expect(await outcome(remove(`&paginated=true&continuation=${token}`))).toEqual(denied);
    const check = (limit: number) =>
      sim.store.snapshot(async (view) => {
        const records = new Records(view, sim.runtime.content);
        const target = (await allBlobs(records)).find(({ name }) => name === "dir");
        return (
          target && checkTreeDeletion(records, target.record, { objectId: "me", groups }, limit)
        );
      });
    expect([await check(1), await check(2), await check(3)]).toEqual([
      "unknown",
      "denied",
      "denied",
    ]);
  });
});

describe("a listing", () => {
  const paths = (query: string) =>
    sim.sendToDfs({ method: "GET", path: `/fff?resource=filesystem&${query}` });
  const listBlobs = (query: string) =>
    sim.send({ method: "GET", path: `/fff?restype=container&comp=list${query}` });

  beforeEach(async () => {
    await create("dir/file");
    sim.callAs(keyPrincipal);
    await create("dir/private/secret");
    sim.callAs(me);
  });

  it("contains no entries of directories that the caller may not list", async () => {
    expect((await paths("recursive=false&directory=dir")).status).toBe(200);
    expect(await outcome(paths("recursive=true"))).toEqual(denied);
    expect(await outcome(paths("recursive=false&directory=dir/private"))).toEqual(denied);
    sim.callAs(other);
    expect(await outcome(paths("recursive=false&directory=dir"))).toEqual(denied);
    sim.callAs(keyPrincipal);
    expect((await paths("recursive=true")).body).toContain("secret");
  });

  it("does not start in such a directory, whatever the token says", async () => {
    const token = encodeURIComponent(Buffer.from("0 1 dir/private/a").toString("base64"));
    for (const query of ["recursive=true", "recursive=false&directory=dir"]) {
      expect(await outcome(paths(`${query}&continuation=${token}`))).toEqual(denied);
    }
    expect(await outcome(paths("recursive=true&beginFrom=dir/private/a"))).toEqual(denied);
    expect(await outcome(listBlobs("&startfrom=dir/private/a&delimiter=/"))).toEqual(denied);
  });

  it("by the Blob API needs the same permissions", async () => {
    const allowed = await listBlobs("&prefix=dir/&delimiter=/");
    expect(allowed.body).toContain("<Name>dir/file</Name>");
    for (const query of ["", "&showonly=files", "&prefix=dir/private/&delimiter=/"]) {
      expect(await outcome(listBlobs(query))).toEqual(denied);
    }
    sim.callAs(keyPrincipal);
    expect((await listBlobs("")).body).toContain("secret");
  });

  it("of a file needs no permission on the file", async () => {
    sim.callAs(keyPrincipal);
    await setAccess("dir/file", { "x-ms-permissions": "0000" });
    sim.callAs(me);
    expect((await paths("recursive=false&directory=dir/file")).status).toBe(200);
  });
});

describe("a recursive change of lists", () => {
  it("that replaces them needs the entries of owner, group and other", async () => {
    await create("dir/file");
    const change = (mode: string) =>
      setAccess("dir", { "x-ms-acl": "user:one:r-x" }, `setAccessControlRecursive&mode=${mode}`);
    expect(await outcome(change("set"))).toEqual([400, "SetAclMissingAces"]);
    expect((await change("modify")).status).toBe(200);
  });
});

describe("the user who acts with a user delegation SAS", () => {
  const sas = (agent: { objectId: string; isAuthorised: boolean } | undefined): Principal => ({
    kind: "delegation-sas",
    version: "2023-11-03",
    resource: { service: "blob", kind: "container", name: "fff", path: undefined },
    permissions: "racwdlmeop",
    encryptionScope: undefined,
    overrides: undefined,
    objectId: "signer",
    tenantId: "t",
    agent,
  });

  it("owns what it creates, and is limited by lists if the signer does not vouch for it", async () => {
    await create("private", "directory", { "x-ms-permissions": "0700" });
    await create("private/file");
    const read = () => sim.send({ method: "GET", path: "/fff/private/file" });
    const list = () => sim.send({ method: "GET", path: "/fff?restype=container&comp=list" });
    sim.callAs(sas({ objectId: "guest", isAuthorised: false }));
    expect(await outcome(read())).toEqual(denied);
    expect(await outcome(list())).toEqual(denied);
    expect((await create("theirs")).status).toBe(201);
    expect((await ownersOf("theirs"))[0]).toBe("guest");
    sim.callAs(sas({ objectId: "guest", isAuthorised: true }));
    expect((await read()).status).toBe(200);
    expect((await list()).status).toBe(200);
    sim.callAs(sas(undefined));
    expect((await read()).status).toBe(200);
  });

  it("does not exist on accounts with a flat namespace", async () => {
    sim = await simBlob();
    await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
    await create("file");
    sim.callAs(sas({ objectId: "guest", isAuthorised: false }));
    const read = sim.send({ method: "GET", path: "/fff/file" });
    expect(await outcome(read)).toEqual([403, "AuthorizationFailure"]);
  });
});
