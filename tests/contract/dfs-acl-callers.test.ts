// What access control lists permit to callers with a bearer token, beyond single paths.
import { beforeEach, describe, expect, it } from "vitest";
import { blobs, uploads } from "../../src/blob/records.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const groups = ["team"];
const me: Principal = { kind: "bearer", objectId: "me", tenantId: "t", groups };
const other: Principal = { kind: "bearer", objectId: "other", tenantId: "t" };
const denied = [403, "AuthorizationPermissionMismatch"];
const open = { "x-ms-permissions": "0777", "x-ms-umask": "0000" };
const retention =
  "<StorageServiceProperties><DeleteRetentionPolicy>" +
  "<Enabled>true</Enabled><Days>5</Days></DeleteRetentionPolicy></StorageServiceProperties>";

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

  it("cannot skip lists with a token", async () => {
    await create("dir/file");
    sim.callAs(keyPrincipal);
    await create("dir/private", "directory");
    sim.callAs(me);
    const token = encodeURIComponent(Buffer.from("0 1 dir/z").toString("base64"));
    expect(await outcome(remove(`&paginated=true&continuation=${token}`))).toEqual(denied);
    expect((await sim.send({ method: "HEAD", path: "/fff/dir/file" })).status).toBe(200);
  });
});

describe("a recursive deletion of more paths than one request checks", () => {
  const remove = (token = "", query = "&paginated=true") =>
    sim.sendToDfs({
      method: "DELETE",
      path: `/fff/dir?recursive=true${query}&continuation=${encodeURIComponent(token)}`,
    });
  const names = (table: typeof blobs | typeof uploads = blobs) =>
    sim.store.snapshot(async (view) => {
      const found: string[] = [];
      for await (const entries of view.range(table.range([]))) {
        for (const { key } of entries) found.push(table.parts(key)[1] as string);
      }
      return found;
    });

  /** Copies each file named `0` as records: requests would take minutes. */
  async function copyFiles(count: number): Promise<void> {
    await sim.store.transact(async (tx) => {
      for await (const entries of tx.range(blobs.range([]))) {
        for (const { key, value } of entries) {
          const [container, name] = blobs.parts(key) as [bigint, string];
          if (name !== "0") continue;
          for (let at = 1; at < count; at += 1) {
            tx.put(blobs.key({ container, name: String(at) }), value);
          }
        }
      }
    });
  }

  async function untilDone(first = ""): Promise<string[][]> {
    const answers: string[][] = [];
    for (let token: string | undefined = first; token !== undefined && answers.length < 30;) {
      const { status, code, headers } = await remove(token);
      token = headers["x-ms-continuation"];
      const after = token && Buffer.from(token, "base64").toString().slice("0 1 ".length);
      answers.push([String(status), code ?? "", after ?? "end"]);
    }
    return answers;
  }

  beforeEach(async () => {
    await create("dir/a/b/0");
    await create("dir/a/c/0");
    await create("dir/z/0");
    await copyFiles(7000);
  });

  it("is done in parts until no token is returned, and leaves nothing", async () => {
    await sim.sendToDfs({
      method: "PATCH",
      path: "/fff/dir/a/b/1?action=append&position=0",
      body: "x".repeat(5000),
    });
    const answers = await untilDone();
    expect(answers.every(([status]) => status === "200")).toBe(true);
    const places = answers.map(([, , next = ""]) => next);
    expect(places[0]).toBe("dir/a/b/2797");
    expect(places.slice(0, -1)).toEqual(places.slice(0, -1).toSorted());
    expect(places.at(-1)).toBe("end");
    expect(answers.length).toBeLessThan(14);
    expect((await sim.send({ method: "HEAD", path: "/fff/dir" })).status).toBe(404);
    await sim.reclaim();
    expect(await names()).toEqual([""]);
    expect(await names(uploads)).toEqual([]);
  });

  it("starts again after a lost response, whatever the token says", async () => {
    expect((await remove()).headers["x-ms-continuation"]).toBeDefined();
    const token = Buffer.from("0 1 dir/zzz").toString("base64");
    const answers = await untilDone(token);
    expect(answers.at(-1)).toEqual(["200", "", "end"]);
    await sim.reclaim();
    expect(await names()).toEqual([""]);
  });

  it("deletes nothing at once if the client cannot continue", async () => {
    expect(await outcome(remove("", ""))).toEqual([500, "OperationTimedOut"]);
    expect(await names()).toHaveLength(21_006);
  });

  it("checks the rights on what each request deletes", async () => {
    const first = await remove();
    sim.callAs(keyPrincipal);
    await setAccess("dir/a/c", { "x-ms-owner": "other", "x-ms-permissions": "0755" });
    sim.callAs(me);
    const answers = await untilDone(first.headers["x-ms-continuation"]);
    expect(answers.at(-1)?.slice(0, 2)).toEqual(["403", "AuthorizationPermissionMismatch"]);
    sim.callAs(keyPrincipal);
    expect((await sim.send({ method: "HEAD", path: "/fff/dir/a/c/0" })).status).toBe(200);
    expect((await sim.send({ method: "HEAD", path: "/fff/dir/z/0" })).status).toBe(200);
  });

  it("keeps what it deletes restorable with soft delete", async () => {
    sim.callAs(keyPrincipal);
    const path = "/?restype=service&comp=properties";
    await sim.send({ method: "PUT", path, body: retention });
    sim.callAs(me);
    const { headers } = await remove();
    expect(headers["x-ms-delete-type-permanent"]).toBe("false");
    sim.callAs(keyPrincipal);
    await sim.reclaim();
    const file = "/fff/dir/a/b/0";
    expect((await sim.send({ method: "HEAD", path: file })).status).toBe(404);
    const undelete = { method: "PUT", path: `${file}?comp=undelete` };
    expect((await sim.send(undelete)).status).toBe(200);
    expect((await sim.send({ method: "HEAD", path: file })).status).toBe(200);
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
    resource: {
      service: "blob",
      kind: "container",
      name: "fff",
      path: undefined,
      snapshotOrVersion: "",
    },
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
