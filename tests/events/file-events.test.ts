import { beforeEach, describe, expect, test } from "vitest";
import { developmentAccountName as accountName } from "../../src/account/settings.ts";
import { accounts } from "../../src/account/account-record.ts";
import type { EventRecord } from "../../src/account/event-log.ts";
import { closeFile } from "../../src/file/filesystem/close.ts";
import { openFile, type Disposition } from "../../src/file/filesystem/open.ts";
import type { FileReference } from "../../src/file/filesystem/file-reference.ts";
import { renameFile } from "../../src/file/filesystem/rename.ts";
import { setBasicInfo, setDeletePending, setSecurity } from "../../src/file/filesystem/set-info.ts";
import { sweepHandles } from "../../src/file/filesystem/sweep.ts";
import { resizeFile, writeFile, zeroFile } from "../../src/file/filesystem/write.ts";
import { locks, openChanges, shares } from "../../src/file/records.ts";
import { Records } from "../../src/operation/records.ts";
import { loggedEvents, startEventLog } from "../harness/event-log.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";

let sim: SimFile;
let nextHandle = 1n;

beforeEach(async () => {
  sim = await simFile();
  await sim.send({ method: "PUT", path: "/box?restype=share" });
  await startEventLog(sim.store);
});

interface Handle {
  readonly reference: FileReference;
  readonly handle: bigint;
}

async function open(
  path: string,
  {
    disposition = "openIf",
    wants,
    deleteOnClose = false,
  }: {
    readonly disposition?: Disposition;
    readonly wants?: "file" | "directory";
    readonly deleteOnClose?: boolean;
  } = {},
): Promise<Handle> {
  const { store, content } = sim.runtime;
  const share = await store.snapshot(async (view) => {
    const records = new Records(view, content);
    const account = (await records.get(accounts, accountName))!.id;
    const { id } = (await records.get(shares, { account, name: "box" }))!;
    return { accountName, account, name: "box", id };
  });
  nextHandle += 1n;
  const outcome = await openFile(sim.runtime, {
    share,
    path: path.split("/"),
    disposition,
    wants,
    wantsMaximum: false,
    attributes: 0,
    sddl: undefined,
    cache: undefined,
    open: {
      id: nextHandle,
      owner: "test",
      access: 0x001f_01ff,
      share: 7,
      deleteOnClose,
      session: 1n,
      client: "127.0.0.1",
    },
  });
  if (outcome.kind !== "done") throw new Error(JSON.stringify(outcome));
  return { reference: { share, file: outcome.value.node.id }, handle: nextHandle };
}

const write = (handle: Handle, text: string, at = 0) =>
  writeFile(sim.runtime, { ...handle, keepsLastWrite: false, at, bytes: Buffer.from(text) });
const close = ({ reference, handle }: Handle) => closeFile(sim.runtime, reference, [handle]);

const textOf = ({ type, api, path, source }: EventRecord) =>
  [`${type}/${api}`, ...(source ? [source.path] : []), path].join(" ");
const texts = async () => (await loggedEvents(sim.store)).map(textOf);

/** The events that the function appends. */
async function eventsOf(change: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await texts()).length;
  await change();
  return (await texts()).slice(before);
}

async function marks(): Promise<number> {
  return sim.store.snapshot(async (view) => {
    let count = 0;
    for await (const batch of view.range(openChanges.range([]))) count += batch.length;
    return count;
  });
}

describe("a change over SMB", () => {
  test("of content is one event per handle, when the handle is closed", async () => {
    const handle = await open("a.txt");
    const other = await open("A.TXT");
    const before = await texts();
    expect(before).toEqual(["FileCreated/SmbCreate a.txt"]);
    await write(handle, "hello");
    await write(handle, " world", 5);
    await resizeFile(sim.runtime, { ...handle, keepsLastWrite: false, length: 8 });
    await zeroFile(sim.runtime, { ...handle, keepsLastWrite: false, span: { from: 0, length: 2 } });
    expect(await texts()).toEqual(before);
    expect(await eventsOf(() => close(other))).toEqual([]);
    expect(await eventsOf(() => close(handle))).toEqual(["FileContentUpdated/SmbWrite a.txt"]);
    const [, written] = await loggedEvents(sim.store);
    expect(written).toMatchObject({ container: "box", contentLength: 8 });
    expect(await marks()).toBe(0);
  });

  test("by an open that replaces the content is an event at its close", async () => {
    await close(await open("a.txt"));
    const handle = await open("a.txt", { disposition: "overwrite" });
    expect(await eventsOf(() => close(handle))).toEqual(["FileContentUpdated/SmbWrite a.txt"]);
    const reader = await open("a.txt", { disposition: "open" });
    expect(await eventsOf(() => close(reader))).toEqual([]);
  });

  test("of times, attributes and permissions is an event of its own", async () => {
    const handle = await open("a.txt");
    const set = () => setBasicInfo(sim.runtime, { ...handle, attributes: 2 });
    const secure = () =>
      setSecurity(sim.runtime, { ...handle, revise: (text) => text.replace("G:", "G:") });
    const expected = ["FilePropertiesUpdated/SmbSetInfo a.txt"];
    expect(await eventsOf(set)).toEqual(expected);
    expect(await eventsOf(secure)).toEqual(expected);
  });

  test("of a name is an event with both names, of files and of directories", async () => {
    const directory = await open("d", { wants: "directory" });
    await close(await open("d/a.txt"));
    await close(directory);
    const moved = await open("d/a.txt", { disposition: "open" });
    const rename = (renamed: Handle, path: readonly string[]) => () =>
      renameFile(sim.runtime, { ...renamed, path, replaces: true });
    expect(await eventsOf(rename(moved, ["d", "b.txt"]))).toEqual([
      "FileRenamed/SmbRename d/a.txt d/b.txt",
    ]);
    await write(moved, "x");
    await close(moved);
    const again = await open("d", { disposition: "open" });
    expect(await eventsOf(rename(again, ["e"]))).toEqual(["FileDirectoryRenamed/SmbRename d e"]);
    await close(again);
    // A file that is replaced while it is open has no name any more.
    const displaced = await open("e/c.txt");
    await write(displaced, "x");
    const source = await open("e/b.txt", { disposition: "open" });
    expect(await eventsOf(rename(source, ["e", "c.txt"]))).toEqual([
      "FileRenamed/SmbRename e/b.txt e/c.txt",
    ]);
    expect(await eventsOf(() => close(displaced))).toEqual([]);
  });

  test("that deletes is an event when the last handle is closed", async () => {
    const handle = await open("a.txt");
    const other = await open("a.txt");
    await write(handle, "x");
    const mark = () => setDeletePending(sim.runtime, { ...handle, isPending: true });
    expect(await eventsOf(mark)).toEqual([]);
    expect(await eventsOf(() => close(handle))).toEqual(["FileContentUpdated/SmbWrite a.txt"]);
    expect(await eventsOf(() => close(other))).toEqual(["FileDeleted/SmbDelete a.txt"]);
    const directory = await open("d", { wants: "directory", deleteOnClose: true });
    expect(await eventsOf(() => close(directory))).toEqual(["FileDirectoryDeleted/SmbDelete d"]);
  });

  test("is no event without an event log", async () => {
    sim = await simFile();
    await sim.send({ method: "PUT", path: "/box?restype=share" });
    const handle = await open("a.txt");
    await write(handle, "x");
    await close(handle);
    expect(await texts()).toEqual([]);
    expect(await marks()).toBe(0);
  });
});

describe("a handle that its client does not close", () => {
  test("is an event when Force Close Handles closes it", async () => {
    const handle = await open("a.txt", { deleteOnClose: true });
    await write(handle, "x");
    const headers = { "x-ms-handle-id": "*" };
    const path = "/box/a.txt?comp=forceclosehandles";
    const forced = () => sim.send({ method: "PUT", path, headers });
    expect(await eventsOf(forced)).toEqual([
      "FileContentUpdated/SmbWrite a.txt",
      "FileDeleted/SmbDelete a.txt",
    ]);
    expect(await marks()).toBe(0);
  });

  test("is an event when the handles of an ended process are closed", async () => {
    await write(await open("a.txt"), "x");
    await open("b.txt", { deleteOnClose: true });
    const swept = await eventsOf(() => sweepHandles(sim.runtime, () => false));
    expect(swept.toSorted()).toEqual([
      "FileContentUpdated/SmbWrite a.txt",
      "FileDeleted/SmbDelete b.txt",
    ]);
  });

  test("is an event if the lock state was lost", async () => {
    const { reference } = await open("a.txt");
    const key = { share: reference.share.id, id: reference.file };
    const handle = await open("a.txt", { disposition: "open" });
    await write(handle, "x");
    await sim.store.transact((tx) => tx.delete(locks.key(key)));
    const sweep = () => sweepHandles(sim.runtime, () => true);
    expect(await eventsOf(sweep)).toEqual(["FileContentUpdated/SmbWrite a.txt"]);
    expect(await eventsOf(sweep)).toEqual([]);
    expect(await marks()).toBe(0);
  });
});

describe("a change over REST", () => {
  test("names the request, and the path as it is stored", async () => {
    await close(await open("Dir", { wants: "directory" }));
    const headers = {
      "x-ms-type": "file",
      "x-ms-content-length": "3",
      "x-ms-client-request-id": "7",
    };
    const answer = await sim.send({ method: "PUT", path: "/box/dir/File.txt", headers });
    expect((await loggedEvents(sim.store)).at(-1)).toMatchObject({
      type: "FileCreated",
      path: "Dir/File.txt",
      contentLength: 3,
      contentType: "application/octet-stream",
      requestId: answer.headers["x-ms-request-id"],
      clientRequestId: "7",
    });
    const range = { "x-ms-write": "update", range: "bytes=0-1" };
    const call = {
      method: "PUT",
      path: "/box/DIR/FILE.TXT?comp=range",
      headers: range,
      body: "xy",
    };
    expect(await eventsOf(() => sim.send(call))).toEqual([
      "FileContentUpdated/PutRange Dir/File.txt",
    ]);
  });

  test("that is rejected is no event", async () => {
    await close(await open("a.txt"));
    const headers = { "x-ms-lease-id": "00000000-0000-0000-0000-000000000001" };
    const rejected = () => sim.send({ method: "DELETE", path: "/box/a.txt", headers });
    expect(await eventsOf(rejected)).toEqual([]);
    expect(await eventsOf(() => sim.send({ method: "DELETE", path: "/box/b" }))).toEqual([]);
  });
});
