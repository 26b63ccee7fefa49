import {
  DataLakeServiceClient,
  DirectorySASPermissions,
  generateDataLakeSASQueryParameters,
  StorageSharedKeyCredential,
  type DataLakeFileSystemClient,
  type PathAccessControlItem,
} from "@azure/storage-file-datalake";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer({ enableHierarchicalNamespace: true });
const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);

function bits(text: string): PathAccessControlItem["permissions"] {
  return { read: text[0] === "r", write: text[1] === "w", execute: text[2] === "x" };
}

function entry(type: PathAccessControlItem["accessControlType"], permissions: string) {
  const item = { accessControlType: type, entityId: "", defaultScope: false };
  return { ...item, permissions: bits(permissions) };
}

/** With an address by IP the library sends both APIs to one port. */
describe.each(["dfs", "blob"] as const)("with the client library at the %s port", (port) => {
  let service: DataLakeServiceClient;
  let filesystem: DataLakeFileSystemClient;

  beforeAll(() => {
    const url = `${held.server.urls[port]}/${developmentAccountName}`;
    service = new DataLakeServiceClient(url, credential);
  });
  beforeEach(async () => {
    filesystem = service.getFileSystemClient(freshName("fs"));
    await filesystem.create();
  });

  async function listed(path?: string): Promise<readonly string[]> {
    const names: string[] = [];
    const options = { recursive: true, ...(path !== undefined && { path }) };
    for await (const { name } of filesystem.listPaths(options)) names.push(name ?? "");
    return names;
  }

  it("uploads, appends, flushes and reads", async () => {
    const file = filesystem.getFileClient("dir/file");
    await file.create({ metadata: { owner: "tests" } });
    await file.append("hello ", 0, 6);
    await file.append("world", 6, 5);
    await file.flush(11);
    expect((await file.readToBuffer()).toString()).toBe("hello world");
    const properties = await file.getProperties();
    expect(properties).toMatchObject({ contentLength: 11, metadata: { owner: "tests" } });
    const large = Buffer.alloc(9 * 1024 * 1024, "x");
    await filesystem.getFileClient("large").upload(large);
    const read = await filesystem.getFileClient("large").readToBuffer();
    expect(read.equals(large)).toBe(true);
    expect(await listed()).toEqual(["dir", "dir/file", "large"]);
  });

  it("renames directories, and rejects replacing one that is not empty", async () => {
    await filesystem.getFileClient("a/b/file").upload(Buffer.from("x"));
    await filesystem.getDirectoryClient("full/sub").create();
    await filesystem.getDirectoryClient("a").move("c");
    expect(await listed()).toEqual(["c", "c/b", "c/b/file", "full", "full/sub"]);
    await expect(filesystem.getDirectoryClient("c").move("full")).rejects.toMatchObject({
      statusCode: 409,
    });
    expect((await filesystem.getFileClient("c/b/file").readToBuffer()).toString()).toBe("x");
    await filesystem.getDirectoryClient("c").delete(true);
    expect(await listed()).toEqual(["full", "full/sub"]);
  });

  it("sets access control, on one path and on all below", async () => {
    const directory = filesystem.getDirectoryClient("dir");
    await filesystem.getFileClient("dir/file").create();
    const acl = [entry("user", "rwx"), entry("group", "r-x"), entry("other", "--x")];
    await directory.setAccessControl(acl);
    expect((await directory.getAccessControl()).acl).toEqual(acl);
    const changed = await directory.setAccessControlRecursive(acl, { batchSize: 1 });
    expect(changed.counters).toMatchObject({
      changedDirectoriesCount: 1,
      changedFilesCount: 1,
      failedChangesCount: 0,
    });
    const file = await filesystem.getFileClient("dir/file").getAccessControl();
    expect(file.permissions?.other).toMatchObject({ execute: true, read: false });
  });

  it("gives access to a directory by a signature, and to nothing beside it", async () => {
    await filesystem.getFileClient("open/sub/file").upload(Buffer.from("x"));
    await filesystem.getFileClient("shut/file").upload(Buffer.from("y"));
    const sas = generateDataLakeSASQueryParameters(
      {
        fileSystemName: filesystem.name,
        pathName: "open",
        isDirectory: true,
        directoryDepth: 1,
        permissions: DirectorySASPermissions.parse("racwdlmeop"),
        expiresOn: new Date("2099-01-01"),
      },
      credential,
    );
    const url = `${held.server.urls[port]}/${developmentAccountName}?${String(sas)}`;
    const limited = new DataLakeServiceClient(url).getFileSystemClient(filesystem.name);
    const inside = await limited.getFileClient("open/sub/file").readToBuffer();
    expect(inside.toString()).toBe("x");
    await limited.getFileClient("open/new").create();
    const outside = limited.getFileClient("shut/file");
    await expect(outside.read()).rejects.toMatchObject({ statusCode: 403 });
    await expect(outside.create()).rejects.toMatchObject({ statusCode: 403 });
  });

  it("takes leases and conditions on both ends of a rename", async () => {
    const file = filesystem.getFileClient("file");
    await file.create();
    const lease = file.getDataLakeLeaseClient();
    await lease.acquireLease(-1);
    await expect(file.move("moved")).rejects.toMatchObject({ code: "LeaseIdMissing" });
    const leaseId = lease.leaseId;
    await file.move("moved", { conditions: { leaseId } });
    const moved = filesystem.getFileClient("moved");
    expect((await moved.getProperties()).leaseState).toBe("leased");
    await filesystem.getFileClient("other").create();
    const other = filesystem.getFileClient("other");
    const refused = other.move("moved", { destinationConditions: { leaseId, ifMatch: '"0x1"' } });
    await expect(refused).rejects.toMatchObject({ code: "ConditionNotMet" });
  });
});
