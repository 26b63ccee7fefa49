import { createHash } from "node:crypto";
import {
  FileSASPermissions,
  generateFileSASQueryParameters,
  ShareSASPermissions,
  ShareServiceClient,
  StorageSharedKeyCredential,
  type ShareClient,
} from "@azure/storage-file-share";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer();
let service: ShareServiceClient;
let share: ShareClient;

beforeAll(() => {
  service = ShareServiceClient.fromConnectionString(held.server.connectionString);
});
beforeEach(async () => {
  share = service.getShareClient(freshName("share"));
  await share.create();
});

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fff_ffff;
    bytes[at] = state >> 16;
  }
  return bytes;
}

describe("shares with the client library", () => {
  it("creates, describes, lists and deletes", async () => {
    expect((await share.createIfNotExists()).succeeded).toBe(false);
    await share.setMetadata({ owner: "tests" });
    await share.setQuota(7);
    expect(await share.getProperties()).toMatchObject({ quota: 7, metadata: { owner: "tests" } });
    const names: string[] = [];
    for await (const { name } of service.listShares({ includeMetadata: true })) names.push(name);
    expect(names).toContain(share.name);
    expect(await share.getStatistics()).toMatchObject({ shareUsageBytes: 0 });
    await share.delete();
    expect(await share.exists()).toBe(false);
  });

  it("uploads and downloads a tree, byte for byte", async () => {
    const sums = new Map<string, string>();
    for (const directory of ["a", "a/b", "a/b/c"])
      await share.getDirectoryClient(directory).create();
    for (const [index, size] of [0, 1, 4096, 100_000, 9_000_001].entries()) {
      const path = ["", "a", "a/b", "a/b/c", "a"][index] ?? "";
      const bytes = noise(size, index + 1);
      const file = share.getDirectoryClient(path).getFileClient(`File ${index}.bin`);
      await file.uploadData(bytes, { rangeSize: 4 * 1024 * 1024 });
      sums.set(`${path}/File ${index}.bin`, digest(bytes));
    }
    const found = new Map<string, string>();
    const visit = async (path: string): Promise<void> => {
      for await (const item of share.getDirectoryClient(path).listFilesAndDirectories()) {
        const below = path === "" ? item.name : `${path}/${item.name}`;
        if (item.kind === "directory") await visit(below);
        else {
          const bytes = await share
            .getDirectoryClient(path)
            .getFileClient(item.name)
            .downloadToBuffer();
          found.set(`${path}/${item.name}`, digest(bytes));
        }
      }
    };
    await visit("");
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(sums));
    expect((await share.getStatistics()).shareUsageBytes).toBe(0 + 1 + 4096 + 100_000 + 9_000_001);
  });

  it("lists a directory page by page, with the included fields", async () => {
    const directory = share.getDirectoryClient("many");
    await directory.create();
    for (let index = 0; index < 7; index += 1)
      await directory.getFileClient(`f${index}`).create(index);
    const pages: string[][] = [];
    const options = { includeTimestamps: true, includeEtag: true, includeAttributes: true };
    for await (const { segment } of directory
      .listFilesAndDirectories(options)
      .byPage({ maxPageSize: 3 })) {
      pages.push(segment.fileItems.map(({ name }) => name));
      expect(segment.fileItems[0]).toMatchObject({ attributes: "Archive" });
    }
    expect(pages).toEqual([["f0", "f1", "f2"], ["f3", "f4", "f5"], ["f6"]]);
  });

  it("renames files and whole directories", async () => {
    const directory = share.getDirectoryClient("old");
    await directory.create();
    await directory.getFileClient("inside").uploadData(Buffer.from("content"));
    await directory.rename("new");
    const moved = share.getDirectoryClient("new").getFileClient("inside");
    await moved.rename("new/Other");
    const other = share.getDirectoryClient("new").getFileClient("other");
    expect((await other.downloadToBuffer()).toString()).toBe("content");
    expect(await share.getDirectoryClient("old").exists()).toBe(false);
  });

  it("copies, leases, resizes and lists ranges", async () => {
    const source = share.rootDirectoryClient.getFileClient("source");
    await source.create(1_000_000);
    await source.uploadRange("hello", 4096, 5);
    const target = share.rootDirectoryClient.getFileClient("target");
    const poller = await target.startCopyFromURL(source.url);
    expect(poller.copyStatus).toBe("success");
    expect((await target.getRangeList()).rangeList).toEqual([{ start: 4096, end: 4607 }]);
    const lease = target.getShareLeaseClient();
    await lease.acquireLease(-1);
    await expect(target.resize(10)).rejects.toMatchObject({ code: "LeaseIdMissing" });
    await lease.releaseLease();
    await target.resize(10);
    expect((await target.getProperties()).contentLength).toBe(10);
    await target.clearRange(0, 10);
  });

  it("keeps the content of a snapshot", async () => {
    const file = share.rootDirectoryClient.getFileClient("f");
    await file.uploadData(Buffer.from("before"));
    const { snapshot = "" } = await share.createSnapshot();
    await file.uploadData(Buffer.from("after!"));
    await share.rootDirectoryClient.getFileClient("later").create(1);
    const then = share.withSnapshot(snapshot);
    const old = then.rootDirectoryClient.getFileClient("f");
    expect((await old.downloadToBuffer()).toString()).toBe("before");
    const names: string[] = [];
    for await (const { name } of then.rootDirectoryClient.listFilesAndDirectories())
      names.push(name);
    expect(names).toEqual(["f"]);
    await expect(share.delete()).rejects.toMatchObject({ code: "ShareHasSnapshots" });
    await share.delete({ deleteSnapshots: "include" });
  });

  it("stores permissions by key", async () => {
    const sddl = "O:SYG:SYD:(A;;FA;;;BA)S:NO_ACCESS_CONTROL";
    const { filePermissionKey = "" } = await share.createPermission(sddl);
    expect((await share.getPermission(filePermissionKey)).permission).toBe(sddl);
    const file = share.rootDirectoryClient.getFileClient("f");
    await file.create(1, { filePermissionKey });
    expect((await file.getProperties()).filePermissionKey).toBe(filePermissionKey);
  });

  it("authorizes a share SAS for its permissions only", async () => {
    const credential = new StorageSharedKeyCredential(
      developmentAccountName,
      developmentAccountKey,
    );
    await share.rootDirectoryClient.getFileClient("f").uploadData(Buffer.from("x"));
    const sas = generateFileSASQueryParameters(
      {
        shareName: share.name,
        permissions: ShareSASPermissions.parse("rl"),
        expiresOn: new Date("2099-01-01"),
      },
      credential,
    ).toString();
    const url = `${held.server.urls.file}/${developmentAccountName}?${sas}`;
    const guest = new ShareServiceClient(url).getShareClient(share.name).rootDirectoryClient;
    expect((await guest.getFileClient("f").downloadToBuffer()).toString()).toBe("x");
    await expect(guest.getFileClient("f").delete()).rejects.toMatchObject({ statusCode: 403 });
  });

  it("compares a file SAS with the file that the request addresses", async () => {
    const credential = new StorageSharedKeyCredential(
      developmentAccountName,
      developmentAccountKey,
    );
    const dotted = ShareServiceClient.fromConnectionString(held.server.connectionString, {
      allowTrailingDot: true,
    });
    const root = dotted.getShareClient(share.name).rootDirectoryClient;
    for (const name of ["a", "a."]) await root.getFileClient(name).uploadData(Buffer.from(name));
    const sasOf = (filePath: string) => {
      const permissions = FileSASPermissions.parse("r");
      const expiresOn = new Date("2099-01-01");
      const values = { shareName: share.name, filePath, permissions, expiresOn };
      return generateFileSASQueryParameters(values, credential).toString();
    };
    const get = async (name: string, sas: string, keepsDots: boolean) => {
      const url = `${held.server.urls.file}/${developmentAccountName}/${share.name}/${name}?${sas}`;
      const headers = { "x-ms-allow-trailing-dot": String(keepsDots) };
      const answer = await fetch(url, { headers });
      return answer.ok ? answer.text() : answer.status;
    };
    expect(await get("a.", sasOf("a."), true)).toBe("a.");
    // The service ignores the dot: the request is one for `a`, which the SAS does not cover.
    expect(await get("a.", sasOf("a."), false)).toBe(403);
    expect(await get("a.", sasOf("a"), false)).toBe("a");
    expect(await get("a.", sasOf("a"), true)).toBe(403);
  });
});
