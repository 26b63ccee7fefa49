// Every method of the client library for Data Lake that `datalake.test.ts` does not use.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  AccountSASPermissions,
  DataLakeDirectoryClient,
  DataLakeFileClient,
  DataLakeFileSystemClient,
  DataLakeServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-datalake";
import type { AccessControlChanges, PathAccessControlItem } from "@azure/storage-file-datalake";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { freshName, testServer } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const held = testServer({ enableHierarchicalNamespace: true });
const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
const hour = 3_600_000;
const startsOn = new Date(Date.now() - hour);
const expiresOn = new Date(Date.now() + hour);

let service: DataLakeServiceClient;
let filesystem: DataLakeFileSystemClient;

beforeAll(() => {
  service = new DataLakeServiceClient(
    `${held.server.urls.dfs}/${developmentAccountName}`,
    credential,
  );
});
beforeEach(async () => {
  filesystem = service.getFileSystemClient(freshName("fs"));
  await filesystem.create();
});

async function namesOf(items: AsyncIterable<{ name?: string }>): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of items) names.push(name ?? "");
  return names;
}

async function write(path: string, text = path): Promise<DataLakeFileClient> {
  const file = filesystem.getFileClient(path);
  await file.upload(Buffer.from(text));
  return file;
}

describe("a service client", () => {
  it("lists filesystems, sets properties and signs addresses", async () => {
    const names = await namesOf(service.listFileSystems({ prefix: filesystem.name }));
    expect(names).toEqual([filesystem.name]);
    const cors = [
      {
        allowedOrigins: "*",
        allowedMethods: "GET",
        allowedHeaders: "*",
        exposedHeaders: "*",
        maxAgeInSeconds: 5,
      },
    ];
    await service.setProperties({ cors });
    expect((await service.getProperties()).cors).toMatchObject([{ maxAgeInSeconds: 5 }]);
    const permissions = AccountSASPermissions.parse("rl");
    const url = service.generateAccountSasUrl(expiresOn, permissions, "sco");
    expect(await namesOf(new DataLakeServiceClient(url).listFileSystems())).toContain(
      filesystem.name,
    );
  });
});

describe("a filesystem client", () => {
  it("creates and deletes only if needed", async () => {
    expect(await filesystem.exists()).toBe(true);
    expect((await filesystem.createIfNotExists()).succeeded).toBe(false);
    expect((await filesystem.deleteIfExists()).succeeded).toBe(true);
    expect(await filesystem.exists()).toBe(false);
    expect((await filesystem.createIfNotExists()).succeeded).toBe(true);
  });

  it("sets metadata and access policies, and takes leases", async () => {
    await filesystem.setMetadata({ a: "b" });
    expect((await filesystem.getProperties()).metadata).toEqual({ a: "b" });
    const accessPolicy = { permissions: "rl", startsOn, expiresOn };
    await filesystem.setAccessPolicy(undefined, [{ id: "readers", accessPolicy }]);
    const { signedIdentifiers } = await filesystem.getAccessPolicy();
    expect(signedIdentifiers.map(({ id }) => id)).toEqual(["readers"]);
    await write("file");
    const url = await filesystem.generateSasUrl({ identifier: "readers" });
    expect(await namesOf(new DataLakeFileSystemClient(url).listPaths())).toEqual(["file"]);
    const lease = filesystem.getDataLakeLeaseClient();
    await lease.acquireLease(-1);
    await expect(filesystem.delete()).rejects.toMatchObject({ statusCode: 412 });
    await lease.renewLease();
    await lease.changeLease("11111111-2222-3333-4444-555555555555");
    await lease.breakLease(0);
    await lease.releaseLease();
    await filesystem.delete();
  });

  it("lists pages of paths", async () => {
    for (const path of ["a/1", "a/2", "b/1", "c"]) await write(path);
    const pages: number[] = [];
    const pager = filesystem.listPaths({ recursive: true }).byPage({ maxPageSize: 4 });
    for await (const { pathItems = [] } of pager) pages.push(pathItems.length);
    expect(pages).toEqual([4, 2]);
    const all = await namesOf(filesystem.listPaths({ path: "a", userPrincipalName: true }));
    expect(all).toEqual(["a/1", "a/2"]);
  });

  it("lists deleted paths and restores them", async () => {
    const deleteRetentionPolicy = { enabled: true, days: 2 };
    await service.setProperties({ deleteRetentionPolicy });
    for (const path of ["dir/a", "dir/b", "x"]) await write(path);
    await filesystem.getDirectoryClient("dir").delete(true);
    await filesystem.getFileClient("x").deleteIfExists();
    await write("x", "new");
    const deleted: { name?: string; deletionId?: string }[] = [];
    for await (const page of filesystem.listDeletedPaths().byPage({ maxPageSize: 1 })) {
      deleted.push(...(page.pathItems ?? []));
    }
    expect(deleted.map(({ name }) => name)).toEqual(["dir", "x"]);
    const [dir, x] = deleted;
    const { pathClient } = await filesystem.undeletePath("dir", dir?.deletionId ?? "");
    expect(pathClient).toBeInstanceOf(DataLakeDirectoryClient);
    await expect(filesystem.undeletePath("x", x?.deletionId ?? "")).rejects.toMatchObject({
      statusCode: 409,
    });
    await filesystem.getFileClient("x").delete();
    const restored = await filesystem.undeletePath("x", x?.deletionId ?? "");
    expect(restored.pathClient).toBeInstanceOf(DataLakeFileClient);
    expect(await namesOf(filesystem.listPaths({ recursive: true }))).toEqual([
      "dir",
      "dir/a",
      "dir/b",
      "x",
    ]);
    const text = await filesystem.getFileClient("x").readToBuffer();
    expect(text.toString()).toBe("x");
    await service.setProperties({ deleteRetentionPolicy: { enabled: false } });
  });
});

describe("a path client", () => {
  it("creates and deletes only if needed", async () => {
    const directory = filesystem.getDirectoryClient("dir");
    expect((await directory.createIfNotExists()).succeeded).toBe(true);
    expect((await directory.createIfNotExists()).succeeded).toBe(false);
    const file = directory.getSubdirectoryClient("sub").getFileClient("file");
    expect((await file.createIfNotExists()).succeeded).toBe(true);
    expect((await file.createIfNotExists()).succeeded).toBe(false);
    expect([await directory.exists(), await file.exists()]).toEqual([true, true]);
    await expect(directory.delete(false)).rejects.toMatchObject({ statusCode: 409 });
    expect((await file.deleteIfExists()).succeeded).toBe(true);
    expect((await file.deleteIfExists()).succeeded).toBe(false);
    expect((await directory.deleteIfExists(true)).succeeded).toBe(true);
    expect(await directory.exists()).toBe(false);
  });

  it("sets headers, metadata and permissions, with conditions", async () => {
    const file = await write("file");
    await file.setHttpHeaders({ contentType: "text/plain", cacheControl: "no-cache" });
    await file.setMetadata({ a: "b" });
    const found = await file.getProperties();
    expect(found).toMatchObject({ contentType: "text/plain", metadata: { a: "b" } });
    const all = { read: true, write: true, execute: false };
    await file.setPermissions({
      owner: all,
      group: all,
      other: all,
      stickyBit: false,
      extendedAcls: false,
    });
    expect((await file.getAccessControl()).permissions).toMatchObject({ other: all });
    const conditions = { ifMatch: '"0x1"' };
    await expect(file.setMetadata({}, { conditions })).rejects.toMatchObject({ statusCode: 412 });
    await expect(file.delete(false, { conditions })).rejects.toMatchObject({ statusCode: 412 });
    expect(filesystem.getDirectoryClient("dir").toFileClient().name).toBe("dir");
  });

  const item = (type: string, text: string, entityId = ""): PathAccessControlItem => ({
    accessControlType: type as PathAccessControlItem["accessControlType"],
    entityId,
    defaultScope: false,
    permissions: { read: text[0] === "r", write: text[1] === "w", execute: text[2] === "x" },
  });

  it("changes lists of a tree in batches, and resumes with a continuation", async () => {
    for (const path of ["dir/a", "dir/b", "dir/sub/c", "dir/sub/d"]) await write(path);
    const directory = filesystem.getDirectoryClient("dir");
    const id = "22222222-3333-4444-5555-666666666666";
    const base = [item("user", "rwx"), item("group", "r-x"), item("other", "---")];
    const named = [...base, item("user", "r--", id), item("mask", "rwx")];
    const first = await directory.setAccessControlRecursive(named, {
      batchSize: 2,
      maxBatches: 1,
    });
    expect(first.counters).toMatchObject({ changedDirectoriesCount: 1, changedFilesCount: 1 });
    const { continuationToken = "" } = first;
    expect(continuationToken).not.toBe("");
    const batches: AccessControlChanges[] = [];
    const rest = await directory.setAccessControlRecursive(named, {
      continuationToken,
      batchSize: 2,
      continueOnFailure: true,
      onProgress: (progress) => batches.push(progress),
    });
    expect(rest.counters).toMatchObject({ changedDirectoriesCount: 1, changedFilesCount: 3 });
    expect([batches.length, rest.continuationToken]).toEqual([2, undefined]);
    const deep = filesystem.getFileClient("dir/sub/d");
    const entries = async () =>
      (await deep.getAccessControl()).acl.filter(({ entityId }) => entityId === id).length;
    expect(await entries()).toBe(1);
    await directory.updateAccessControlRecursive([item("user", "rw-", id)]);
    expect(await entries()).toBe(1);
    await directory.removeAccessControlRecursive([
      { accessControlType: "user", entityId: id, defaultScope: false },
    ]);
    expect(await entries()).toBe(0);
  });
});

describe("a file client", () => {
  it("uploads files and streams, and reads to files", async () => {
    const folder = temporaryFolder();
    const bytes = Buffer.alloc(5 * 1024 * 1024, "abc");
    writeFileSync(join(folder, "in"), bytes);
    const options = { chunkSize: 1024 * 1024, singleUploadThreshold: 1024, metadata: { a: "b" } };
    const file = filesystem.getFileClient("file");
    await file.uploadFile(join(folder, "in"), options);
    await file.readToFile(join(folder, "out"));
    expect(readFileSync(join(folder, "out")).equals(bytes)).toBe(true);
    await file.uploadStream(Readable.from([bytes, bytes]), options);
    expect((await file.readToBuffer()).length).toBe(2 * bytes.length);
    const { contentLength } = await file.read(1024, 10);
    expect(contentLength).toBe(10);
    await file.uploadStream(Readable.from([]));
    expect((await file.getProperties()).contentLength).toBe(0);
  });

  it("queries", async () => {
    const file = await write("file", "1,a\n2,b\n3,c\n");
    const { readableStreamBody } = await file.query("select _2 from BlobStorage where _1 > 1");
    let text = "";
    for await (const chunk of readableStreamBody ?? []) text += String(chunk);
    expect(text).toBe("b\nc\n");
  });

  it("schedules deletions", async () => {
    const file = await write("file");
    await file.setExpiry("RelativeToNow", { timeToExpireInMs: hour });
    expect((await file.getProperties()).expiresOn).toBeInstanceOf(Date);
    await file.setExpiry("Absolute", { expiresOn });
    await file.setExpiry("RelativeToCreation", { timeToExpireInMs: 2 * hour });
    await file.setExpiry("NeverExpire");
    expect((await file.getProperties()).expiresOn).toBe(undefined);
  });

  it("appends with leases, and flushes at once", async () => {
    const file = filesystem.getFileClient("file");
    const proposedLeaseId = "11111111-2222-3333-4444-555555555555";
    await file.create({ proposedLeaseId, leaseDuration: -1 });
    await expect(file.append("a", 0, 1)).rejects.toMatchObject({ statusCode: 412 });
    const conditions = { leaseId: proposedLeaseId };
    await file.append("a", 0, 1, { conditions, flush: true });
    await file.append("b", 1, 1, { conditions, leaseAction: "auto-renew" });
    await file.flush(2, { conditions, leaseAction: "release", close: true });
    expect((await file.getProperties()).leaseState).toBe("available");
    expect((await file.readToBuffer()).toString()).toBe("ab");
  });
});
