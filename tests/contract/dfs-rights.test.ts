// Rights on paths of a hierarchical account: no request takes them by replacing a path, and none
// gets to know paths that a listing would not show.
import { beforeEach, describe, expect, it } from "vitest";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { blobService } from "../../src/blob/service.ts";
import type { BlobPolicy } from "../../src/blob/blob-policy.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const bearer = (objectId: string): Principal => ({ kind: "bearer", objectId, tenantId: "t" });
const me = bearer("me");
const other = bearer("other");
const open = { "x-ms-umask": "0000" };
const operations = [...blobService.operations, ...dfsService.operations];

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
  await sim.sendToDfs({
    method: "PATCH",
    path: "/fff/?action=setAccessControl",
    headers: { "x-ms-permissions": "0777" },
  });
  sim.callAs(me);
});

function create(path: string, kind: string, permissions: string) {
  const headers = { ...open, "x-ms-permissions": permissions };
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

async function accessTo(path: string) {
  sim.callAs(keyPrincipal);
  const at = `/fff/${path}?action=getAccessControl`;
  const { headers } = await sim.sendToDfs({ method: "HEAD", path: at });
  return ["owner", "group", "permissions", "acl"].map((name) => headers[`x-ms-${name}`]);
}

describe("a request that replaces a path of another owner", () => {
  const source = "http://127.0.0.1/devstoreaccount1/fff/theirs";
  const blockList = "<BlockList><Latest>YQ==</Latest></BlockList>";
  const put = (path: string, headers: Record<string, string> = {}, body = ""): RawCall => {
    return { method: "PUT", path: `/fff/${path}`, headers, body };
  };
  /** One request for each operation; undefined: hierarchical accounts do not have it. */
  const replacements: Readonly<Record<string, RawCall | undefined>> = {
    BlockBlob_Upload: put("file", { "x-ms-blob-type": "BlockBlob" }, "new"),
    AppendBlob_Create: put("file", { "x-ms-blob-type": "AppendBlob" }),
    PageBlob_Create: undefined,
    "Put Blob From URL": put("file", {
      "x-ms-blob-type": "BlockBlob",
      "x-ms-copy-source": source,
    }),
    "Copy Blob From URL": put("file", {
      "x-ms-copy-source": source,
      "x-ms-requires-sync": "true",
    }),
    "Copy Blob": put("file", { "x-ms-copy-source": source }),
    "Incremental Copy Blob": undefined,
    "Put Block List": put("file?comp=blocklist", {}, blockList),
    "Create File": put("file?resource=file"),
    "Create Directory": put("sticky?resource=directory"),
    // Moves a path of the caller to the name: rights belong to the path, not to its name.
    "Rename Path": undefined,
  };

  it("is known for every operation that replaces one", () => {
    const names = operations
      .filter(({ policy }) => (policy as BlobPolicy | undefined)?.content === "replace")
      .map(({ name, ids: [id = name] }) => (name === "Put Blob" ? id : name));
    expect(Object.keys(replacements).toSorted()).toEqual(names.toSorted());
  });

  const rights: Readonly<Record<string, Record<string, string>>> = {
    nothing: {},
    permissions: { ...open, "x-ms-permissions": "0777" },
    "a list": { "x-ms-acl": "user::rwx,user:other:rwx,group::rwx,other::rwx" },
    owners: { "x-ms-owner": "other" },
  };
  const requests = Object.entries(replacements).flatMap(([name, call]) =>
    call === undefined ? [] : Object.keys(rights).map((asked) => [name, asked, call] as const),
  );

  it.each(requests)("%s that asks for %s keeps its owner and list", async (name, asked, call) => {
    // Blocks cannot replace a file of the Data Lake API.
    await sim.send(put("file", { "x-ms-blob-type": "BlockBlob" }));
    await sim.sendToDfs({
      method: "PATCH",
      path: "/fff/file?action=setAccessControl",
      headers: { "x-ms-permissions": "0666" },
    });
    await create("sticky", "directory", "1777");
    sim.callAs(other);
    await sim.sendToDfs({ method: "PUT", path: "/fff/theirs?resource=file", headers: open });
    await sim.send({ method: "PUT", path: "/fff/file?comp=block&blockid=YQ==", body: "a" });
    const path = name === "Create Directory" ? "sticky" : "file";
    const before = await accessTo(path);
    for (const principal of [other, keyPrincipal]) {
      sim.callAs(principal);
      const headers = { ...call.headers, ...rights[asked] };
      const { status } = await sim.send({ ...call, headers });
      const isRejected = asked === "owners" && name.startsWith("Create") && principal === other;
      expect(status).toBe(isRejected ? 403 : name.startsWith("Copy") ? 202 : 201);
      // Recorded: the holder of the account key sets them.
      const isSet = principal === keyPrincipal && name.startsWith("Create") && asked !== "nothing";
      if (!isSet) expect(await accessTo(path)).toEqual(before);
      else expect(await accessTo(path)).not.toEqual(before);
    }
    if (asked === "owners") return;
    sim.callAs(other);
    const change = { method: "PATCH", path: `/fff/${path}?action=setAccessControl` };
    expect((await sim.sendToDfs({ ...change, headers: { "x-ms-permissions": "0777" } })).code).toBe(
      "AuthorizationPermissionMismatch",
    );
  });
});

describe("an operation that reaches below a directory", () => {
  const acl = { "x-ms-acl": "user::rwx,group::rwx,other::rwx" };
  const token = (path: string) => encodeURIComponent(Buffer.from(`0 1 ${path}`).toString("base64"));
  const recursive = "/fff/top?action=setAccessControlRecursive&mode=set";
  const change = (query: string): RawCall => ({
    method: "PATCH",
    path: recursive + query,
    headers: acl,
  });
  const get = (query: string): RawCall => ({ method: "GET", path: `/fff?${query}` });
  const listing = "restype=container&comp=list";
  const arrow = { accept: "application/vnd.apache.arrow.stream" };
  const inPrivate = token("top/private/a");
  const where = "a%3D%27b%27";

  /** Requests of each operation that reads or changes paths below its target. */
  const traversals: Readonly<Record<string, readonly RawCall[]>> = {
    "List Paths": [
      get("resource=filesystem&recursive=true"),
      get("resource=filesystem&recursive=true&directory=top"),
      get("resource=filesystem&recursive=false&directory=top/private"),
      get(`resource=filesystem&recursive=true&directory=top&continuation=${inPrivate}`),
      get("resource=filesystem&recursive=true&directory=top&beginFrom=private/a"),
    ],
    "List Blobs": [
      get(listing),
      get(`${listing}&prefix=top/`),
      get(`${listing}&prefix=top/private/&delimiter=/`),
      get(`${listing}&startfrom=top/private/a`),
      get(`${listing}&showonly=deleted`),
    ],
    "List Blobs (Apache Arrow)": [{ ...get(listing), headers: arrow }],
    "Set Access Control Recursive": [
      change(""),
      change("&forceFlag=true"),
      change("&forceFlag=true&maxRecords=1"),
      change(`&forceFlag=true&continuation=${inPrivate}`),
      change(`&forceFlag=true&continuation=${token("top/private/secret")}`),
      change(`&continuation=${token("top/private/secret/x")}`),
    ],
    "Delete Path": [{ method: "DELETE", path: "/fff/top?recursive=true" }],
    "Rename Path": [
      put("mine", { "x-ms-rename-source": "/fff/top/private/secret" }),
      put("top/private/secret", { "x-ms-rename-source": "/fff/top/theirs" }),
    ],
    "Find Blobs by Tags": [
      { method: "GET", path: `/?comp=blobs&where=${where}` },
      { method: "GET", path: `/?comp=blobs&where=%40container%3D%27fff%27%20AND%20${where}` },
    ],
    "Find Blobs by Tags in Container": [get(`restype=container&comp=blobs&where=${where}`)],
    "Undelete Blob": [put("mine?comp=undelete", { "x-ms-undelete-source": "top/private/gone" })],
  };

  const tag = "<Tag><Key>a</Key><Value>b</Value></Tag>";
  const tags = `<Tags><TagSet>${tag}</TagSet></Tags>`;

  it("finds by a tag what its caller may list", async () => {
    await create("top", "directory", "0755");
    await create("top/file", "file", "0600");
    await sim.send({ ...put("top/file?comp=tags", {}), body: tags });
    sim.callAs(other);
    for (const call of traversals["Find Blobs by Tags"] ?? []) {
      expect((await sim.send(call)).body).toContain("<Name>top/file</Name>");
    }
  });

  function put(path: string, headers: Record<string, string>): RawCall {
    return { method: "PUT", path: `/fff/${path}`, headers };
  }

  it("is known for every declaration", () => {
    const names = operations
      .filter(({ permission, namedResources = [], route, name }) => {
        const isListing = permission.letters === "l" && route.resource === "container";
        const isSearch = permission.letters === "f";
        const reaches = permission.reachesBelow !== undefined || name === "Undelete Blob";
        return isListing || isSearch || reaches || namedResources.some(reachesBelow);
      })
      .map(({ name }) => name);
    expect(Object.keys(traversals).toSorted()).toEqual(names.toSorted());
  });

  function reachesBelow(named: object): boolean {
    return "permission" in named && "reachesBelow" in (named.permission as object);
  }

  const requests = Object.entries(traversals).flatMap(([name, calls]) =>
    calls.map((call) => [name, call.path, call] as const),
  );

  it.each(requests)("%s %s shows and changes nothing that is not listable", async (_, __, call) => {
    await setRetention();
    await create("top", "directory", "0777");
    await create("top/private", "directory", "0777");
    for (const path of ["top/private/secret", "top/private/gone"]) {
      sim.callAs(me);
      await create(path, "file", "0777");
    }
    await sim.send({ ...put("top/private/secret?comp=tags", {}), body: tags });
    sim.callAs(other);
    await create("top/private/secret-of-other", "file", "0700");
    await create("top/theirs", "file", "0777");
    sim.callAs(me);
    const { headers: deleted } = await sim.sendToDfs({
      method: "DELETE",
      path: "/fff/top/private/gone",
    });
    await sim.sendToDfs({
      method: "PATCH",
      path: "/fff/top/private?action=setAccessControl",
      headers: { "x-ms-permissions": "0700" },
    });
    const paths = ["top/private", "top/private/secret", "top/private/secret-of-other"];
    const before = await Promise.all(paths.map(accessTo));
    sim.callAs(other);
    const source = call.headers?.["x-ms-undelete-source"];
    const id = `${source}?deletionid=${deleted["x-ms-deletion-id"]}`;
    const headers = { ...call.headers, ...(source && { "x-ms-undelete-source": id }) };
    const { status, body } = await sim.send({ ...call, headers });
    expect(body).not.toContain("secret");
    expect(body).not.toContain("gone");
    expect(status === 403 || status === 200).toBe(true);
    if (status === 200 && call.method === "PATCH")
      expect(JSON.parse(body)).toMatchObject({ failureCount: expect.any(Number) });
    expect(await Promise.all(paths.map(accessTo))).toEqual(before);
  });

  async function setRetention() {
    sim.callAs(keyPrincipal);
    const days = "<Enabled>true</Enabled><Days>7</Days>";
    const policy = `<DeleteRetentionPolicy>${days}</DeleteRetentionPolicy>`;
    const xml = `<StorageServiceProperties>${policy}</StorageServiceProperties>`;
    await sim.send({
      method: "PUT",
      path: "/?restype=service&comp=properties",
      body: xml,
    });
    sim.callAs(me);
  }
});

describe("a recursive change of lists", () => {
  const acl = { "x-ms-acl": "user::rwx,group::rwx,other::rwx" };
  const change = (query: string, directory = "top") =>
    sim.sendToDfs({
      method: "PATCH",
      path: `/fff/${directory}?action=setAccessControlRecursive&mode=set${query}`,
      headers: acl,
    });
  const failed = (name: string, type = "DIRECTORY") =>
    expect.objectContaining({ name, type }) as unknown;

  beforeEach(async () => {
    await create("top/a", "directory", "0755");
    await create("top/a/mine", "file", "0644");
    sim.callAs(other);
    await create("top/b", "directory", "0777");
    sim.callAs(keyPrincipal);
    await sim.sendToDfs({
      method: "PATCH",
      path: "/fff/top?action=setAccessControl",
      headers: { "x-ms-permissions": "0777" },
    });
    sim.callAs(other);
    await create("top/b", "directory", "0777");
    sim.callAs(me);
    await create("top/b/mine", "file", "0644");
    await create("top/c", "directory", "0755");
  });

  it("ends without a token after a rejected path, unless it is forced", async () => {
    const stopped = await change("");
    expect(stopped.headers["x-ms-continuation"]).toBe(undefined);
    expect(JSON.parse(stopped.body)).toEqual({
      directoriesSuccessful: 2,
      failedEntries: [failed("top/b")],
      failureCount: 1,
      filesSuccessful: 1,
    });
    const forced = await change("&forceFlag=true");
    expect(JSON.parse(forced.body)).toEqual({
      directoriesSuccessful: 3,
      failedEntries: [failed("top/b")],
      failureCount: 1,
      filesSuccessful: 2,
    });
  });

  it.each(["garbage", "", "MCAxIG90aGVy", "MCAxIHRvcA==", "MCAxIA=="])(
    "with the token %j succeeds without a change",
    async (token) => {
      const { status, body, headers } = await change(`&continuation=${token}`);
      expect([status, headers["x-ms-continuation"]]).toEqual([200, undefined]);
      const isStart = token === "";
      expect(JSON.parse(body)).toMatchObject({ directoriesSuccessful: isStart ? 2 : 0 });
    },
  );
});
