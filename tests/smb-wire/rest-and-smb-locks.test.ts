import type { ShareDirectoryClient, ShareFileClient } from "@azure/storage-file-share";
import { describe, expect, it } from "vitest";
import { Status } from "../../src/smb/status.ts";
import { freshName } from "../harness/server.ts";
import { restAndSmb, codeOf } from "./rest-and-smb.ts";
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
  write,
} from "./wire-messages.ts";

const { share, service, loggedIn, ready, restFile } = restAndSmb();
const directoryOption = 1;
const batch = 9;

describe("6 REST and SMB opens of a file", () => {
  it("reports a delete-pending file, which is deleted with its last handle", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const handle = await openFile(client, name);
    await setDeletePending(client, handle, true);
    expect(await codeOf(file.download(0))).toBe("DeletePending");
    const listed: string[] = [];
    for await (const entry of share().rootDirectoryClient.listFilesAndDirectories()) {
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

  it("waits until an SMB client has given up its caching", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const opened = await client.ask(5, createBody(name, { oplock: 9 }));
    const reading = file.downloadToBuffer();
    await client.noticed(1);
    await acknowledgeOplock(client, handleOf(opened), 1);
    expect((await reading).toString()).toBe("0123456789");
    client.end();
  });

  it("reads cached writes only after they were flushed", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const opened = await client.ask(5, createBody(name, { oplock: batch }));
    const asking = file.getProperties();
    await client.noticed(1);
    await write(client, handleOf(opened), "0123456789ABCDEF");
    await acknowledgeOplock(client, handleOf(opened), 1);
    expect((await asking).contentLength).toBe(16);
    client.end();
  });
});

const exclusive = 0x12;
const sharedLock = 0x11;
const ranges: readonly (readonly [string, number, string])[] = [
  ["put range over it", exclusive, "FileLockConflict"],
  ["put range over it", sharedLock, "FileLockConflict"],
  ["put range beside it", exclusive, "done"],
  ["clear range over it", exclusive, "FileLockConflict"],
  ["get all", exclusive, "FileLockConflict"],
  ["get all", sharedLock, "done"],
  ["get beside it", exclusive, "done"],
  ["list ranges", exclusive, "FileLockConflict"],
  ["list ranges", sharedLock, "done"],
  ["cut it off", exclusive, "FileLockConflict"],
  ["cut behind it", exclusive, "done"],
  ["create", exclusive, "FileLockConflict"],
  ["set metadata", exclusive, "done"],
  ["look at", exclusive, "done"],
];
const onRanges: Readonly<Record<string, (file: ShareFileClient) => Promise<unknown>>> = {
  "put range over it": (file) => file.uploadRange("xy", 4, 2),
  "put range beside it": (file) => file.uploadRange("xy", 5, 2),
  "clear range over it": (file) => file.clearRange(0, 10),
  "get all": (file) => file.download(0),
  "get beside it": (file) => file.download(5, 5),
  "list ranges": (file) => file.getRangeList(),
  "cut it off": (file) => file.resize(1),
  "cut behind it": (file) => file.resize(7),
  create: (file) => file.create(4),
  "set metadata": (file) => file.setMetadata({ a: "b" }),
  "look at": (file) => file.getProperties(),
};

describe("6 REST and bytes 2 to 4 locked by an SMB client", () => {
  it.each(ranges)("%s (lock flags %i): %s", async (operation, flags, expected) => {
    const client = await ready();
    const { name, file } = await restFile();
    const handle = await openFile(client, name);
    await client.ask(10, lockBody(handle, { at: 2, length: 3, flags }));
    expect(await codeOf(onRanges[operation]!(file))).toBe(expected);
    client.end();
  });
});

/** The access that an SMB client requests, and whether a REST lease blocks it. */
const againstLeases: readonly (readonly [string, number, boolean])[] = [
  ["read", Access.read, false],
  ["look", Access.look, false],
  ["write", Access.write, true],
  ["append", 0x4, true],
  ["delete", Access.delete, true],
  ["everything", Access.all, true],
];

describe("6 an SMB open of a file with a REST lease", () => {
  it.each(againstLeases)("for %s", async (_, access, isRefused) => {
    const client = await ready();
    const { name, file } = await restFile();
    const body = createBody(name, { access, disposition: 1 });
    const lease = file.getShareLeaseClient();
    await lease.acquireLease();
    const leased = await client.ask(5, body);
    expect(leased.status).toBe(isRefused ? Status.sharingViolation : Status.success);
    await lease.breakLease();
    expect((await client.ask(5, body)).status).toBe(Status.success);
    client.end();
  });
});

describe("6 handles of SMB clients", () => {
  it("are listed with their properties and closed by id", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const [one, other] = [await openFile(client, name), await openFile(client, name)];
    const found: string[] = [];
    for await (const { handleId, path } of file.listHandles()) found.push(`${handleId} ${path}`);
    const wanted = [one, other].map(({ persistent }) => `${persistent} ${name}`);
    expect(found.toSorted()).toEqual(wanted.toSorted());
    const closed = await file.forceCloseHandle(String(one.persistent));
    expect(closed.closedHandlesCount).toBe(1);
    expect((await read(client, one, 1)).status).toBe(Status.fileClosed);
    expect((await read(client, other, 1)).status).toBe(Status.success);
    expect((await file.forceCloseHandle("1")).closedHandlesCount).toBe(0);
    client.end();
  });

  it("below a directory are closed with their locks, which unblocks REST", async () => {
    const client = await ready();
    const directory = share().getDirectoryClient(freshName("tree"));
    await directory.create();
    const file = directory.getFileClient("file");
    await file.create(4);
    const handle = await openFile(client, `${directory.name}\\file`, { share: 0 });
    await client.ask(10, lockBody(handle, { at: 0, length: 4, flags: exclusive }));
    expect(await codeOf(file.uploadRange("x", 0, 1))).toBe("SharingViolation");
    expect((await directory.forceCloseAllHandles({ recursive: true })).closedHandlesCount).toBe(1);
    expect(await codeOf(file.uploadRange("x", 0, 1))).toBe("done");
    expect(await codeOf(file.delete())).toBe("done");
    client.end();
  });

  it("with delete-on-close delete their file when closed over REST", async () => {
    const client = await ready();
    const { name, file } = await restFile();
    const handle = await openFile(client, name);
    await setDeletePending(client, handle, true);
    const root = share().rootDirectoryClient;
    expect((await root.forceCloseAllHandles({ recursive: true })).closedHandlesCount).toBe(1);
    expect(await codeOf(file.getProperties())).toBe("ResourceNotFound");
    client.end();
  });
});

describe("6 directories used by REST and SMB", () => {
  it("are not deleted while an SMB client has them open", async () => {
    const client = await ready();
    const directory = share().getDirectoryClient(freshName("open"));
    await directory.create();
    const handle = await openFile(client, directory.name, { options: directoryOption });
    expect(await codeOf(directory.delete())).toBe("SharingViolation");
    expect(await codeOf(directory.getProperties())).toBe("done");
    await close(client, handle);
    expect(await codeOf(directory.delete())).toBe("done");
    client.end();
  });

  it("accept no new entries and are not listed if delete-pending", async () => {
    const client = await ready();
    const directory = share().getDirectoryClient(freshName("going"));
    await directory.create();
    const handle = await openFile(client, directory.name, { options: directoryOption });
    await setDeletePending(client, handle, true);
    expect(await codeOf(directory.getProperties())).toBe("DeletePending");
    expect(await codeOf(directory.setMetadata({ a: "b" }))).toBe("DeletePending");
    expect(await codeOf(directory.delete())).toBe("DeletePending");
    expect(await codeOf(directory.getFileClient("new").create(1))).toBe("DeletePending");
    expect(await namesOf(share().rootDirectoryClient)).not.toContain(directory.name);
    await close(client, handle);
    expect(await codeOf(directory.getProperties())).toBe("ResourceNotFound");
    client.end();
  });

  it("are renamed over REST only if nothing below them is open", async () => {
    const client = await ready();
    const directory = share().getDirectoryClient(freshName("moving"));
    await directory.create();
    const below = directory.getDirectoryClient("below");
    await below.create();
    await below.getFileClient("file").create(1);
    const handle = await openFile(client, `${directory.name}\\below\\file`);
    const moved = freshName("moved");
    expect(await codeOf(directory.rename(moved))).toBe("SharingViolation");
    await close(client, handle);
    expect(await codeOf(directory.rename(moved))).toBe("done");
    client.end();
  });

  it("are renamed over REST only if they are not open themselves", async () => {
    const client = await ready();
    const directory = share().getDirectoryClient(freshName("held"));
    await directory.create();
    const handle = await openFile(client, directory.name, { options: directoryOption });
    expect(await codeOf(directory.rename(freshName("moved")))).toBe("SharingViolation");
    await close(client, handle);
    expect(await codeOf(directory.rename(freshName("moved")))).toBe("done");
    client.end();
  });
});

async function namesOf(directory: ShareDirectoryClient): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of directory.listFilesAndDirectories()) names.push(name);
  return names;
}

describe("6 an SMB client", () => {
  it("sees files, bytes and deletes of REST at once", async () => {
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

describe("6 an NFS share", () => {
  it("is not found over SMB", async () => {
    const name = freshName("nfs");
    await service()
      .getShareClient(name)
      .create({ protocols: { nfsEnabled: true } });
    const client = await loggedIn();
    expect((await client.connectTo(name)).status).toBe(Status.badNetworkName);
    client.end();
  });
});
