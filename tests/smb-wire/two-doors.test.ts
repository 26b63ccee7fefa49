import {
  RestError,
  ShareServiceClient,
  type ShareClient,
  type ShareFileClient,
} from "@azure/storage-file-share";
import { beforeAll, describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { freshName, testServer } from "../harness/server.ts";
import { WireClient } from "./wire-client.ts";
import {
  Access,
  acknowledgeOplock,
  close,
  createBody,
  handleOf,
  lockBody,
  openFile,
  read,
  setDeletePending,
} from "./wire-messages.ts";

const held = testServer();
let shareName = "";
let share: ShareClient;

beforeAll(async () => {
  shareName = freshName("doors");
  const service = ShareServiceClient.fromConnectionString(held.server.connectionString, {
    retryOptions: { maxTries: 1 },
  });
  share = service.getShareClient(shareName);
  await share.create();
});

const ready = () => WireClient.ready(held.server.smbUrl, shareName);

async function restFile(text = "0123456789"): Promise<{ name: string; file: ShareFileClient }> {
  const name = `${freshName("file")}.txt`;
  const file = share.rootDirectoryClient.getFileClient(name);
  await file.create(text.length);
  await file.uploadRange(text, 0, text.length);
  return { name, file };
}

/** The operations of the table of share modes, by the names that the table gives them. */
const operations: Readonly<Record<string, (file: ShareFileClient) => Promise<unknown>>> = {
  Create: (file) => file.create(4),
  Get: (file) => file.download(0),
  SetProps: (file) => file.setHttpHeaders({ fileContentType: "text/plain" }),
  SetMeta: (file) => file.setMetadata({ a: "b" }),
  PutRange: (file) => file.uploadRange("x", 0, 1),
  ListRanges: (file) => file.getRangeList(),
  Delete: (file) => file.delete(),
};

/** What an SMB client shares, and what fails beside it.
 *  learn.microsoft.com/rest/api/storageservices/managing-file-locks */
const shareModes: readonly (readonly [share: number, fails: readonly string[]])[] = [
  [0, ["Create", "Get", "SetProps", "SetMeta", "PutRange", "ListRanges", "Delete"]],
  [1, ["Create", "SetProps", "SetMeta", "PutRange", "Delete"]],
  [2, ["Create", "Get", "ListRanges", "Delete"]],
  [3, ["Create", "Delete"]],
  [5, ["Create", "SetProps", "SetMeta", "PutRange", "Delete"]],
  [7, ["Delete"]],
];

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return error.code ?? String(error.statusCode);
  }
}

describe("REST beside an SMB open that shares", () => {
  it.each(shareModes)("%i", async (mode, fails) => {
    const client = await ready();
    for (const [name, run] of Object.entries(operations)) {
      const target = await restFile();
      const handle = await openFile(client, target.name, { access: Access.read, share: mode });
      const expected = fails.includes(name) ? "SharingViolation" : "done";
      expect([name, await codeOf(run(target.file))]).toEqual([name, expected]);
      await close(client, handle);
    }
    client.end();
  });
});

describe("REST and what SMB does to a file", () => {
  it("is told of a delete that is pending, and sees the file go with its last handle", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const handle = await openFile(client, name);
    await setDeletePending(client, handle, true);
    expect(await codeOf(file.download(0))).toBe("DeletePending");
    const listed: string[] = [];
    for await (const entry of share.rootDirectoryClient.listFilesAndDirectories()) {
      listed.push(entry.name);
    }
    expect(listed).not.toContain(name);
    await setDeletePending(client, handle, false);
    expect(await codeOf(file.download(0))).toBe("done");
    await setDeletePending(client, handle, true);
    await close(client, handle);
    expect(await codeOf(file.download(0))).toBe("ResourceNotFound");
    client.end();
  });

  it("stops at locked ranges and passes beside them", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const handle = await openFile(client, name);
    await client.ask(10, lockBody(handle, { at: 0, length: 5, flags: 0x12 }));
    expect(await codeOf(file.uploadRange("x", 2, 1))).toBe("FileLockConflict");
    expect(await codeOf(file.uploadRange("x", 7, 1))).toBe("done");
    client.end();
  });

  it("waits until an SMB client has given up its cache", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const opened = await client.ask(5, createBody(name, { oplock: 9 }));
    const reading = file.downloadToBuffer();
    await client.noticed(1);
    await acknowledgeOplock(client, handleOf(opened), 1);
    expect((await reading).toString()).toBe("0123456789");
    client.end();
  });

  it("lists SMB's handles and closes them by force", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const handle = await openFile(client, name);
    const ids: string[] = [];
    for await (const each of file.listHandles()) ids.push(each.handleId);
    expect(ids).toEqual([String(handle.persistent)]);
    const closed = await file.forceCloseAllHandles();
    expect(closed.closedHandlesCount).toBe(1);
    expect((await read(client, handle, 1)).status).toBe(Status.fileClosed);
    client.end();
  });

  it("keeps SMB writers out by a lease, and lets readers in", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const lease = file.getShareLeaseClient();
    await lease.acquireLease();
    const writing = createBody(name, { access: Access.write });
    expect((await client.ask(5, writing)).status).toBe(Status.sharingViolation);
    const reading = createBody(name, { access: Access.read });
    expect((await client.ask(5, reading)).status).toBe(Status.success);
    await lease.releaseLease();
    expect((await client.ask(5, writing)).status).toBe(Status.success);
    client.end();
  });
});

describe("SMB and what REST does to a file", () => {
  it("sees new files, new bytes and deletes at once", async () => {
    const client = await ready();
    const { name, file } = await restFile("from REST");
    const handle = await openFile(client, name, { access: Access.read });
    expect((await read(client, handle, 100)).text).toBe("from REST");
    await file.uploadRange("FROM", 0, 4);
    expect((await read(client, handle, 100)).text).toBe("FROM REST");
    await close(client, handle);
    await file.delete();
    const gone = createBody(name, { disposition: 1 });
    expect((await client.ask(5, gone)).status).toBe(Status.objectNameNotFound);
    client.end();
  });
});
