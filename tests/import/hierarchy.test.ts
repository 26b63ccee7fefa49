// An Azurite folder that is imported into an account with a hierarchical namespace.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { start } from "../../src/index.ts";
import { azuriteFixture, type AzuriteFixture } from "./azurite-fixture.ts";
import { bytesOf } from "./azurite-data.ts";
import { editDatabase, type Fields } from "./edit-database.ts";
import { importInto, problemsOf } from "./import-into.ts";

let fixture: AzuriteFixture;
let location = "";
const options = () => ({ port: 0, location, enableHierarchicalNamespace: true }) as const;

beforeEach(async () => {
  fixture = await azuriteFixture();
  location = await mkdtemp(join(tmpdir(), "etagere-import-"));
  await (await start(options())).stop();
});
afterEach(async () => {
  fixture.remove();
  await rm(location, { recursive: true, force: true });
});

function isPage({ properties }: Fields): boolean {
  return (properties as Fields | undefined)?.["blobType"] === "PageBlob";
}

/** Changes the folder to one without page blobs and tags, and with the given blobs besides. */
function edit(added: Readonly<Record<string, Fields>> = {}): void {
  editDatabase(fixture.folder, "blob", (fields) => {
    if (isPage(fields)) return [];
    const { blobTags, ...rest } = fields;
    if (fields["name"] !== "nothing") return [blobTags === undefined ? fields : rest];
    return [rest, ...Object.entries(added).map(([name, more]) => ({ ...rest, name, ...more }))];
  });
}

async function listed(): Promise<readonly string[]> {
  await using server = await start(options());
  const credential = new StorageSharedKeyCredential(developmentAccountName, developmentAccountKey);
  const url = `${server.urls.dfs}/${developmentAccountName}`;
  const box = new DataLakeServiceClient(url, credential).getFileSystemClient("box");
  const names: string[] = [];
  for await (const { name, isDirectory } of box.listPaths({ recursive: true })) {
    names.push(isDirectory === true ? `${name}/` : (name ?? ""));
  }
  return names;
}

describe("an import into an account with a hierarchical namespace", () => {
  it("lists the blobs that such an account cannot have, and imports nothing", async () => {
    await expect(importInto(location, fixture.folder)).rejects.toMatchObject({
      problems: expect.arrayContaining([
        "blob box/folder/whole ünï.txt: it has tags",
        "blob box/pages: it is a page blob",
      ]),
    });
    await expect(listed()).rejects.toMatchObject({ code: "FilesystemNotFound" });
    expect(await problemsOf(location)).toEqual([]);
  });

  it("lists every name that continues another one, and names of one path", async () => {
    const names = ["a", "a/b", "a/c/d", "a/c", "x//y", "x/y", "dir/", "dir/file"];
    edit(Object.fromEntries(names.map((name) => [name, {}])));
    const cannot = (name: string) =>
      expect.stringMatching(`^blob box/${name}: other names continue`);
    await expect(importInto(location, fixture.folder)).rejects.toMatchObject({
      problems: [
        "blob box/x/y: appears twice",
        cannot("a"),
        cannot("a/c"),
        expect.stringContaining("import into a flat account"),
      ],
    });
    expect(await problemsOf(location)).toEqual([]);
  });

  it("makes files in directories of blobs, with their content, leases, blocks and snapshots", async () => {
    const mark = { metadata: { hdi_isfolder: "true", note: "kept" } };
    edit({ folder: mark, "new/dir/": {}, "new//file": {} });
    await importInto(location, fixture.folder);
    expect(await listed()).toEqual(
      ["append", "blocks", "broken", "copied", "folder/", "folder/whole ünï.txt", "leased"].concat([
        "new/",
        "new/dir/",
        "new/file",
        "nothing",
        "snapshots",
      ]),
    );
    expect(await problemsOf(location)).toEqual([]);
    await using server = await start(options());
    const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
    const box = blobs.getContainerClient("box");
    const whole = await box.getBlobClient("folder/whole ünï.txt").downloadToBuffer();
    expect(whole.equals(bytesOf(9000, 1))).toBe(true);
    expect((await box.getBlobClient("folder").getProperties()).metadata).toEqual({
      note: "kept",
      hdi_isfolder: "true",
    });
    await expect(box.getBlobClient("leased").delete()).rejects.toMatchObject({ statusCode: 412 });
    const { uncommittedBlocks } = await box.getBlockBlobClient("blocks").getBlockList("all");
    expect(uncommittedBlocks).toHaveLength(2);
    const staged = box.getBlockBlobClient("staged only");
    await staged.commitBlockList([Buffer.from("000000").toString("base64")]);
    expect(await staged.downloadToBuffer()).toHaveLength(77);
    const snapshots: string[] = [];
    for await (const { name, snapshot = "" } of box.listBlobsFlat({ includeSnapshots: true })) {
      if (snapshot === "") continue;
      const client = box.getBlobClient(name).withSnapshot(snapshot);
      const { readableStreamBody } = await client.download();
      let text = "";
      for await (const chunk of readableStreamBody ?? []) text += String(chunk);
      snapshots.push(`${name} ${text}`);
    }
    expect(snapshots).toEqual(["snapshots first", "snapshots second"]);
  });

  it.each([
    ["a blob above another", { folder: {} }, /hierarchical namespace cannot have/],
    ["a blob below another", { "append/below": {} }, /hierarchical namespace cannot have/],
    ["two names of one path", { "x//y": {}, "x/y": {} }, /appears twice/],
    ["a name without a path", { "//": {} }, /^blob box\/\/\/: the name is not valid$/],
  ])("refuses %s", async (_title, added, message) => {
    edit(added);
    await expect(importInto(location, fixture.folder)).rejects.toThrow(message);
    await expect(listed()).rejects.toMatchObject({ code: "FilesystemNotFound" });
    expect(await problemsOf(location)).toEqual([]);
  });
});
