import { beforeEach, describe, expect, it } from "vitest";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const me: Principal = { kind: "bearer", objectId: "me", tenantId: "t" };
const other: Principal = { kind: "bearer", objectId: "other", tenantId: "t" };

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

function create(path: string, kind = "file", headers: Record<string, string> = {}) {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

function setAccess(path: string, headers: Record<string, string>, action = "setAccessControl") {
  return sim.sendToDfs({ method: "PATCH", path: `/fff/${path}?action=${action}`, headers });
}

async function access(path: string): Promise<readonly (string | undefined)[]> {
  const at = `/fff/${path}?action=getAccessControl`;
  const { headers } = await sim.sendToDfs({ method: "HEAD", path: at });
  const names = ["x-ms-owner", "x-ms-group", "x-ms-permissions", "x-ms-acl"];
  return names.map((name) => headers[name]);
}

describe("access control of a path", () => {
  it.each([
    ["file", {}, "rw-r-----", "user::rw-,group::r--,other::---"],
    ["directory", {}, "rwxr-x---", "user::rwx,group::r-x,other::---"],
    [
      "file",
      { "x-ms-permissions": "0777", "x-ms-umask": "0057" },
      "rwx-w----",
      "user::rwx,group::-w-,other::---",
    ],
    [
      "file",
      { "x-ms-acl": "user::rwx,group::r--,other::---,mask::rwx" },
      "rwxrwx---+",
      "user::rwx,group::r--,mask::rwx,other::---",
    ],
  ])("%s created with %j", async (kind, headers, permissions, acl) => {
    await create("path", kind, headers);
    expect(await access("path")).toEqual(["$superuser", "$superuser", permissions, acl]);
  });

  it("changes without a new ETag; each of owner and group alone", async () => {
    const created = await create("file");
    const set = await setAccess("file", { "x-ms-owner": "one", "x-ms-permissions": "rwxrwxrwt" });
    expect([set.status, set.headers["etag"]]).toEqual([200, created.headers["etag"]]);
    await setAccess("file", { "x-ms-group": "two" });
    const acl = "user::rwx,group::rwx,other::rwx";
    expect(await access("file")).toEqual(["one", "two", "rwxrwxrwt", acl]);
  });

  it("is refused if malformed, for default entries of a file, and by conditions", async () => {
    await create("file");
    const wrong = [
      [{ "x-ms-acl": "asdf" }, "InvaldAccessControlList"],
      [{ "x-ms-acl": "user::rwz" }, "InvaldAccessControlList"],
      [
        { "x-ms-acl": "user::rwx,group::r--,other::---,default:user::rwx" },
        "InvaldAccessControlList",
      ],
      [{ "x-ms-permissions": "asdf" }, "InvalidPermission"],
      [{ "if-match": '"0x1"', "x-ms-permissions": "0777" }, "ConditionNotMet"],
    ] as const;
    for (const [headers, code] of wrong) {
      expect((await setAccess("file", headers)).code).toBe(code);
    }
    expect((await access("file"))[2]).toBe("rw-r-----");
  });

  it("is inherited from default entries, through both APIs", async () => {
    await create("dir", "directory");
    const acl = "user::rwx,group::r-x,other::---,default:user:one:rwx";
    await setAccess("dir", { "x-ms-acl": acl });
    await create("dir/file");
    const block = { "x-ms-blob-type": "BlockBlob" };
    await sim.send({ method: "PUT", path: "/fff/dir/sub/blob", headers: block, body: "x" });
    const inherited = "user::rw-,user:one:rwx,group::r-x,mask::rw-,other::---";
    expect((await access("dir/file"))[3]).toBe(inherited);
    expect((await access("dir/sub/blob"))[3]).toBe(inherited);
    expect((await access("dir/sub"))[3]).toContain("default:user:one:rwx");
  });
});

describe("a recursive change", () => {
  const acl = { "x-ms-acl": "user::rwx,group::rwx,other::rwx" };
  const counts = (body: string) => {
    const parsed = JSON.parse(body) as Record<string, number>;
    return [parsed["directoriesSuccessful"], parsed["filesSuccessful"], parsed["failureCount"]];
  };

  it("goes through a tree in portions", async () => {
    for (const path of ["dir/a/1", "dir/a/2", "dir/b/3", "dir/4"]) await create(path);
    const portions: unknown[] = [];
    let token = "";
    for (let page = 0; page < 10; page += 1) {
      const from = token === "" ? "" : `&continuation=${encodeURIComponent(token)}`;
      const action = `setAccessControlRecursive&mode=set&maxRecords=2${from}`;
      const { body, headers } = await setAccess("dir", acl, action);
      portions.push(counts(body).slice(0, 2));
      token = headers["x-ms-continuation"] ?? "";
      if (token === "") break;
    }
    expect(portions).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [0, 1],
    ]);
    expect((await access("dir/b/3"))[2]).toBe("rwxrwxrwx");
  });

  it("adds and removes entries; what is absent is no failure", async () => {
    await create("dir/file");
    const modify = { "x-ms-acl": "user:one:r-x" };
    await setAccess("dir", modify, "setAccessControlRecursive&mode=modify");
    expect((await access("dir/file"))[3]).toContain("user:one:r-x");
    const remove = { "x-ms-acl": "mask,default:user,user:one,user:two" };
    const { body } = await setAccess("dir", remove, "setAccessControlRecursive&mode=remove");
    expect(counts(body)).toEqual([1, 1, 0]);
    expect((await access("dir/file"))[3]).toBe("user::rw-,group::r--,other::---");
  });

  it("stops at a path of another owner, or goes on if forced", async () => {
    await setAccess("", { "x-ms-owner": "me" });
    sim.callAs(me);
    await create("dir/a");
    await create("dir/c");
    sim.callAs(keyPrincipal);
    await create("dir/b");
    sim.callAs(me);
    const stopped = await setAccess("dir", acl, "setAccessControlRecursive&mode=set");
    expect(counts(stopped.body)).toEqual([1, 1, 1]);
    expect(JSON.parse(stopped.body)).toMatchObject({
      failedEntries: [{ name: "dir/b", type: "FILE" }],
    });
    const forced = "setAccessControlRecursive&mode=set&forceFlag=true";
    expect(counts((await setAccess("dir", acl, forced)).body)).toEqual([1, 2, 1]);
  });
});

describe("a caller with a bearer token", () => {
  beforeEach(async () => {
    await setAccess("", { "x-ms-permissions": "rwxrwxrwx" });
    sim.callAs(me);
    await create("dir", "directory", { "x-ms-permissions": "0755", "x-ms-umask": "0000" });
    await create("dir/file", "file", { "x-ms-permissions": "0640" });
  });

  it("owns what it creates, through both APIs", async () => {
    const block = { "x-ms-blob-type": "BlockBlob" };
    await sim.send({ method: "PUT", path: "/fff/new/blob", headers: block, body: "x" });
    for (const path of ["dir", "dir/file", "new", "new/blob"]) {
      expect((await access(path))[0]).toBe("me");
    }
    expect((await sim.send({ method: "GET", path: "/fff/new/blob" })).body).toBe("x");
  });

  it("is refused what the lists do not grant, through both APIs", async () => {
    sim.callAs(other);
    const denied = "AuthorizationPermissionMismatch";
    const at = { path: "/fff/dir/file" };
    expect((await sim.sendToDfs({ method: "GET", ...at })).code).toBe(denied);
    expect((await sim.send({ method: "GET", ...at })).code).toBe(denied);
    expect((await sim.sendToDfs({ method: "DELETE", ...at })).code).toBe(denied);
    expect((await create("dir/new")).code).toBe(denied);
    expect((await setAccess("dir/file", { "x-ms-permissions": "0777" })).code).toBe(denied);
    const source = { "x-ms-rename-source": "/fff/dir/file" };
    const move = { method: "PUT", path: "/fff/taken?mode=legacy", headers: source };
    expect((await sim.sendToDfs(move)).code).toBe(denied);
    const list = "/fff?resource=filesystem&recursive=true&directory=dir";
    expect((await sim.sendToDfs({ method: "GET", path: list })).status).toBe(200);
    sim.callAs(me);
    await setAccess("dir", { "x-ms-permissions": "0711" });
    sim.callAs(other);
    expect((await sim.sendToDfs({ method: "GET", path: list })).code).toBe(denied);
    expect((await sim.sendToDfs({ method: "HEAD", ...at })).status).toBe(200);
  });

  it("is not bound by them with the account's key", async () => {
    await setAccess("dir", { "x-ms-permissions": "0000" });
    sim.callAs(keyPrincipal);
    expect((await sim.sendToDfs({ method: "GET", path: "/fff/dir/file" })).status).toBe(200);
  });

  it("asks what it may do", async () => {
    const check = (action: string) =>
      sim.sendToDfs({ method: "HEAD", path: `/fff/dir?action=checkAccess&fsAction=${action}` });
    expect((await check("rwx")).status).toBe(200);
    sim.callAs(other);
    expect([(await check("r-x")).status, (await check("-w-")).status]).toEqual([200, 403]);
  });
});
