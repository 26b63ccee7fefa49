// Addresses that the client library for Data Lake signs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AnonymousCredential,
  DataLakeDirectoryClient,
  DataLakeFileClient,
  DataLakeFileSystemClient,
  DataLakeSASPermissions,
  DataLakeServiceClient,
  DirectorySASPermissions,
  FileSystemSASPermissions,
  StorageSharedKeyCredential,
} from "@azure/storage-file-datalake";
import { describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { start } from "../../src/index.ts";
import { testServer } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import {
  credentialWorld,
  endpointCredential,
  setEnvironment,
} from "../identity/credential-world.ts";

const held = testServer({ enableHierarchicalNamespace: true });
const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
const { options: secured, trusting } = credentialWorld();
const hour = 3_600_000;
const startsOn = new Date(Date.now() - hour);
const expiresOn = new Date(Date.now() + hour);
const unsigned = new AnonymousCredential();

describe("signed addresses", () => {
  it("of filesystems, directories and files are accepted for what they cover", async () => {
    const url = `${held.server.urls.dfs}/${developmentAccountName}`;
    const filesystem = new DataLakeServiceClient(url, credential).getFileSystemClient("signed");
    await filesystem.create();
    const directory = filesystem.getDirectoryClient("dir");
    const file = filesystem.getFileClient("dir/file");
    await file.upload(Buffer.from("text"));
    const fileUrl = await file.generateSasUrl({
      permissions: DataLakeSASPermissions.parse("r"),
      expiresOn,
    });
    const signedFile = new DataLakeFileClient(fileUrl, unsigned);
    expect((await signedFile.readToBuffer()).toString()).toBe("text");
    await expect(signedFile.delete()).rejects.toMatchObject({ statusCode: 403 });
    const directoryUrl = await directory.generateSasUrl({
      permissions: DirectorySASPermissions.parse("racwdl"),
      expiresOn,
    });
    const signed = new DataLakeDirectoryClient(directoryUrl, unsigned);
    await signed.getFileClient("other").upload(Buffer.from("x"));
    const filesystemUrl = await filesystem.generateSasUrl({
      permissions: FileSystemSASPermissions.parse("l"),
      expiresOn,
    });
    const all = new DataLakeFileSystemClient(filesystemUrl, unsigned);
    const names: string[] = [];
    for await (const { name } of all.listPaths({ recursive: true })) names.push(name ?? "");
    expect(names).toEqual(["dir", "dir/file", "dir/other"]);
  });

  // The library omits the account in the URL of a rename: the path starts with the filesystem.
  it("move a file of the filesystem with the name of the account, and of no other", async () => {
    const url = `${held.server.urls.dfs}/${developmentAccountName}`;
    const service = new DataLakeServiceClient(url, credential);
    const filesystem = service.getFileSystemClient(developmentAccountName);
    await filesystem.create();
    await filesystem.getFileClient("dir/file").upload(Buffer.from("text"));
    const permissions = FileSystemSASPermissions.parse("racwdlmeop");
    const sas = new URL(await filesystem.generateSasUrl({ permissions, expiresOn })).search;
    const other = service.getFileSystemClient("other");
    await other.create();
    await other.getFileClient("file").upload(Buffer.from("text"));
    const moving = (name: string) =>
      new DataLakeServiceClient(url + sas, unsigned).getFileSystemClient(name);
    await moving(developmentAccountName).getFileClient("dir/file").move("dir/moved");
    expect(await filesystem.getFileClient("dir/moved").exists()).toBe(true);
    expect(await filesystem.getFileClient("dir/file").exists()).toBe(false);
    await expect(moving("other").getFileClient("file").move("moved")).rejects.toMatchObject({
      statusCode: 403,
    });
  });

  it("are made with a key of a user", async () => {
    const config = join(temporaryFolder(), "config.json");
    const secret = "a-secret-of-the-application";
    const account = { hierarchicalNamespace: true };
    writeFileSync(
      config,
      JSON.stringify({
        accounts: { [developmentAccountName]: account },
        principals: { app: { objectId: "o1" } },
        roleAssignments: [{ principal: "app", role: "Storage Blob Data Owner" }],
        managedIdentity: { principal: "app", secret },
      }),
    );
    await using server = await start({ ...secured, config });
    await setEnvironment(server);
    const url = `${server.urls.dfs}/${developmentAccountName}`;
    const users = new DataLakeServiceClient(url, endpointCredential(), trusting as object);
    const fs = users.getFileSystemClient("users");
    await fs.create();
    await fs.getFileClient("dir/file").upload(Buffer.from("text"));
    const key = await users.getUserDelegationKey(startsOn, expiresOn);
    const permissions = DirectorySASPermissions.parse("rl");
    const directory = fs.getDirectoryClient("dir");
    const signedUrl = await directory.generateUserDelegationSasUrl({ permissions, expiresOn }, key);
    const signed = new DataLakeDirectoryClient(signedUrl, unsigned, trusting as object);
    const text = await signed.getFileClient("file").readToBuffer();
    expect(text.toString()).toBe("text");
    await expect(signed.getFileClient("file").delete()).rejects.toMatchObject({ statusCode: 403 });
  });
});
