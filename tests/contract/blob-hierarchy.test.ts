import { beforeEach, describe, expect, it } from "vitest";
import type { BlobPolicy } from "../../src/blob/blob-policy.ts";
import { operations } from "../../src/blob/operations.ts";
import { block, SimTree } from "../harness/sim-tree.ts";

const day = 86_400_000;
const retention =
  "<StorageServiceProperties><DeleteRetentionPolicy>" +
  "<Enabled>true</Enabled><Days>5</Days></DeleteRetentionPolicy></StorageServiceProperties>";

let tree: SimTree;

beforeEach(async () => {
  tree = await SimTree.open();
});

describe("a hierarchical account", () => {
  it("says so", async () => {
    const info = await tree.sim.send({ method: "GET", path: "/?restype=account&comp=properties" });
    expect(info.headers["x-ms-is-hns-enabled"]).toBe("true");
  });

  it("creates parents with a path, and shows them as directories", async () => {
    await tree.put("a/b/c");
    const { headers, status } = await tree.send("HEAD", "a/b");
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "x-ms-resource-type": "directory",
      "x-ms-meta-hdi_isfolder": "true",
      "content-length": "0",
      "x-ms-owner": "$superuser",
      "x-ms-group": "$superuser",
      "x-ms-permissions": "rwxr-x---",
      "x-ms-blob-type": "BlockBlob",
      "x-ms-lease-state": "available",
    });
    const file = await tree.send("GET", "a/b/c");
    expect(file.body).toBe("data");
    expect(file.headers).toMatchObject({
      "x-ms-resource-type": "file",
      "x-ms-permissions": "rw-r-----",
    });
    expect((await tree.send("GET", "a//b/c/")).body).toBe("data");
  });

  it.each([
    ["Put Block List", blocks],
    ["an append blob", append],
    ["a copy", copy],
  ])("creates parents with %s", async (_what, create) => {
    await tree.put("source");
    await create("p/q/r");
    expect((await tree.list("&prefix=p")).names).toEqual(["p", "p/q", "p/q/r"]);
  });

  it("creates a directory with an empty blob that has the mark of one", async () => {
    const mark = { ...block, "x-ms-meta-hdi_isfolder": "true" };
    const make = (path: string, headers = {}, body = "") =>
      tree.send("PUT", path, { ...mark, ...headers }, body);
    expect((await make("a/")).status).toBe(201);
    expect((await make("a/b/")).status).toBe(201);
    await tree.put("a/c");
    expect((await make("a", { "x-ms-meta-colour": "red" })).status).toBe(201);
    expect((await tree.list()).names).toEqual(["a", "a/b", "a/c"]);
    const { headers } = await tree.send("HEAD", "a");
    expect(headers).toMatchObject({
      "x-ms-resource-type": "directory",
      "x-ms-meta-colour": "red",
    });
    expect((await make("a", {}, "data")).code).toBe("PathConflict");
    expect((await make("a/c")).code).toBe("PathConflict");
    expect((await tree.send("PUT", "a", block)).code).toBe("PathConflict");
    expect((await tree.list()).names).toEqual(["a", "a/b", "a/c"]);
  });

  it("changes no directory by what happens in it", async () => {
    await tree.put("a/b");
    const before = await tree.send("HEAD", "a");
    await tree.put("a/c");
    await tree.send("DELETE", "a/b");
    const after = await tree.send("HEAD", "a");
    expect(after.headers["etag"]).toBe(before.headers["etag"]);
  });

  it("has no path below a file, and creates none of its parents", async () => {
    await tree.put("a/file");
    expect((await tree.put("a/file/x/y")).code).toBe("PathConflict");
    expect((await tree.send("GET", "a/file/x/y")).code).toBe("BlobNotFound");
    expect((await tree.send("DELETE", "a/file/x")).code).toBe("BlobNotFound");
    expect((await tree.list()).names).toEqual(["a", "a/file"]);
  });

  it("creates no parents if the write is refused", async () => {
    const refused = await tree.put("x/y", "", { "if-match": '"0x1"' });
    expect(refused.status).toBe(412);
    expect((await tree.list()).names).toEqual([]);
  });

  it("keeps the mark of a directory when its metadata is replaced", async () => {
    await tree.put("a/b");
    await tree.send("PUT", "a?comp=metadata", { "x-ms-meta-one": "1" });
    const { headers } = await tree.send("HEAD", "a");
    expect(headers).toMatchObject({ "x-ms-meta-one": "1", "x-ms-meta-hdi_isfolder": "true" });
    await tree.send("PUT", "a?comp=metadata");
    expect((await tree.send("HEAD", "a")).headers["x-ms-meta-hdi_isfolder"]).toBe("true");
  });

  it("leases directories", async () => {
    await tree.put("a/b");
    const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };
    const { headers, status } = await tree.send("PUT", "a?comp=lease", acquire);
    expect(status).toBe(201);
    expect((await tree.send("PUT", "a?comp=metadata")).code).toBe("LeaseIdMissing");
    const withId = { "x-ms-lease-id": headers["x-ms-lease-id"] };
    expect((await tree.send("PUT", "a?comp=metadata", withId)).status).toBe(200);
  });

  it("keeps the ETag of a file whose expiry is set", async () => {
    await tree.put("a/b");
    const before = await tree.send("HEAD", "a/b");
    const expiry = { "x-ms-expiry-option": "RelativeToNow", "x-ms-expiry-time": "60000" };
    expect((await tree.send("PUT", "a/b?comp=expiry", expiry)).status).toBe(200);
    const after = await tree.send("HEAD", "a/b");
    expect(after.headers["etag"]).toBe(before.headers["etag"]);
    expect(after.headers["x-ms-expiry-time"]).toBeDefined();
    expect((await tree.send("PUT", "a?comp=expiry", expiry)).status).toBe(409);
    tree.sim.clock.advance(60_001);
    expect((await tree.send("GET", "a/b")).code).toBe("BlobNotFound");
    expect((await tree.send("DELETE", "a")).status).toBe(202);
    await tree.sim.reclaim();
  });
});

async function blocks(path: string): Promise<void> {
  await tree.send("PUT", `${path}?comp=block&blockid=AAAA`, {}, "data");
  const body = "<BlockList><Latest>AAAA</Latest></BlockList>";
  expect((await tree.send("PUT", `${path}?comp=blocklist`, {}, body)).status).toBe(201);
}

async function append(path: string): Promise<void> {
  expect((await tree.send("PUT", path, { "x-ms-blob-type": "AppendBlob" })).status).toBe(201);
}

async function copy(path: string): Promise<void> {
  const source = "http://127.0.0.1/devstoreaccount1/ccc/source";
  expect((await tree.send("PUT", path, { "x-ms-copy-source": source })).status).toBe(202);
}

describe("a directory", () => {
  /** Everything a directory has in common with a blob; the others only work on files. */
  const allowed = new Set([
    "Set Blob Properties",
    "Set Blob Metadata",
    "Lease Blob",
    "Delete Blob",
    "Undelete Blob",
  ]);

  it("is no blob for the operations that it cannot be one for", () => {
    const undeclared = operations.filter(({ route, effect, namespace, policy }) => {
      const isWrite = route.resource === "blob" && effect === "writes";
      return isWrite && namespace !== "flat" && (policy as BlobPolicy).directories === undefined;
    });
    expect(undeclared.map(({ name }) => name).filter((name) => !allowed.has(name))).toEqual([]);
  });

  it.each([
    ["Put Blob", "a", block, "PathConflict"],
    ["Put Block", "a?comp=block&blockid=AAAA", {}, "OperationNotSupportedOnDirectory"],
    ["Snapshot Blob", "a?comp=snapshot", {}, "OperationNotSupportedOnDirectory"],
    [
      "Set Blob Tier",
      "a?comp=tier",
      { "x-ms-access-tier": "Cool" },
      "OperationNotSupportedOnDirectory",
    ],
  ])("is refused by %s", async (_what, path, headers, code) => {
    await tree.put("a/b");
    const answer = await tree.send(
      "PUT",
      path,
      headers,
      path.includes("snapshot") || path.includes("tier") ? "" : "new",
    );
    expect([answer.status, answer.code]).toEqual([409, code]);
    expect((await tree.list()).names).toEqual(["a", "a/b"]);
  });

  it("is deleted only if it is empty", async () => {
    await tree.put("a/b");
    expect((await tree.send("DELETE", "a")).code).toBe("DirectoryIsNotEmpty");
    await tree.send("DELETE", "a/b");
    expect((await tree.send("DELETE", "a")).status).toBe(202);
    expect((await tree.list()).names).toEqual([]);
  });
});

describe("what a hierarchical account does not have", () => {
  it.each([
    ["page blobs", "PUT", "p", { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" }],
    ["holds", "PUT", "t?comp=legalhold", { "x-ms-legal-hold": "true" }],
  ])("is refused: %s", async (_what, method, path, headers) => {
    const { status, code } = await tree.send(method, path, headers);
    expect([status, code]).toEqual([409, "FeatureNotYetSupportedForHierarchicalNamespaceAccounts"]);
  });
});

describe("soft delete of paths", () => {
  beforeEach(async () => {
    const path = "/?restype=service&comp=properties";
    await tree.sim.send({ method: "PUT", path, body: retention });
  });

  it("lists what was deleted by its path, and brings it back with its ETag", async () => {
    await tree.put("a/b", "first");
    const { headers: before } = await tree.send("HEAD", "a/b");
    const deleted = await tree.send("DELETE", "a/b");
    const id = deleted.headers["x-ms-deletion-id"] ?? "";
    expect(deleted.headers["x-ms-delete-type-permanent"]).toBe("false");
    expect(id).toMatch(/^\d{18}$/);
    await tree.put("a/b", "second");
    await tree.send("DELETE", "a/b");
    const { names, body } = await tree.list("&showonly=deleted&prefix=a/");
    expect(names).toEqual(["a/b", "a/b"]);
    expect(body).toContain(`<DeletionId>${id}</DeletionId><Deleted>true</Deleted>`);
    expect(body).toContain("<Expiry-Time>Sat, 06 Jan 2024 00:00:00 GMT</Expiry-Time>");
    const source = { "x-ms-undelete-source": `a%2Fb?deletionid=${id}` };
    const restored = await tree.send("PUT", "a/b?comp=undelete", source);
    expect(restored.headers["x-ms-resource-type"]).toBe("file");
    const after = await tree.send("GET", "a/b");
    expect([after.body, after.headers["etag"]]).toEqual(["first", before["etag"]]);
    expect((await tree.list("&showonly=deleted")).names).toEqual(["a/b"]);
  });

  it("keeps an empty directory, and nothing of what was overwritten", async () => {
    await tree.put("a/b");
    await tree.put("a/b");
    expect((await tree.list("&showonly=deleted")).names).toEqual([]);
    await tree.send("DELETE", "a/b");
    const id = (await tree.send("DELETE", "a")).headers["x-ms-deletion-id"];
    expect((await tree.list("&showonly=deleted")).names).toEqual(["a", "a/b"]);
    const source = { "x-ms-undelete-source": `?deletionid=${id}` };
    const restored = await tree.send("PUT", "a?comp=undelete", source);
    expect(restored.headers["x-ms-resource-type"]).toBe("directory");
    expect((await tree.send("PUT", "a/b?comp=undelete")).status).toBe(200);
    expect((await tree.send("GET", "a/b")).body).toBe("data");
  });

  it("restores no path whose directory is gone", async () => {
    await tree.put("a/b");
    await tree.send("DELETE", "a/b");
    await tree.send("DELETE", "a");
    expect((await tree.send("PUT", "a/b?comp=undelete")).code).toBe("BlobNotFound");
    await tree.put("a/b");
    expect((await tree.send("PUT", "a/b?comp=undelete")).code).toBe("BlobAlreadyExists");
  });

  it("ends when the days are over", async () => {
    await tree.put("a/b");
    await tree.send("DELETE", "a/b");
    tree.sim.clock.advance(5 * day + 1);
    expect((await tree.list("&showonly=deleted")).names).toEqual([]);
    expect((await tree.send("PUT", "a/b?comp=undelete")).code).toBe("BlobNotFound");
    await tree.sim.reclaim();
  });
});
