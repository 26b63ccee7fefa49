import { openFilePage } from "../../src/admin/views/open-files.ts";
import { beforeEach, describe, expect, it } from "vitest";
import type { Table } from "../../src/encoding/table.ts";
import { closeFile } from "../../src/file/filesystem/close.ts";
import { acknowledge, lockFile } from "../../src/file/filesystem/lock.ts";
import { readFile } from "../../src/file/filesystem/info.ts";
import { renameFile } from "../../src/file/filesystem/rename.ts";
import { setDeletePending } from "../../src/file/filesystem/set-info.ts";
import { writeFile } from "../../src/file/filesystem/write.ts";
import { Right } from "../../src/file/locks/access.ts";
import {
  displacedParent,
  locks,
  nodeLocations,
  nodes,
  shareUsage,
  versions,
} from "../../src/file/records.ts";
import { Records } from "../../src/operation/records.ts";
import { closeOrphanedHandles } from "../../src/file/filesystem/sweep.ts";
import {
  expectDone,
  namesIn,
  newDirectory,
  newFile,
  newShare,
  putRange,
  signedUrl,
  snapshot,
} from "../harness/file-steps.ts";
import { simFile, type SimFile, type SimHandle, type SimOpen } from "../harness/sim-file.ts";

/** A file that a rename replaces while a client has it open. */

let world: SimFile;
/** The job looks for handles every 10 minutes. */
const checkMilliseconds = 601_000;

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
  await newDirectory(world, "/share/d");
  await newFile(world, "/share/d/t", "old content");
  await newFile(world, "/share/s", "new");
});

async function open(path: readonly string[], more: Partial<SimOpen> = {}): Promise<SimHandle> {
  const access = Right.readData | Right.writeData | Right.delete;
  const handle = await world.open("share", { path, access, share: 7, ...more });
  if (typeof handle === "string") throw new Error(handle);
  return handle;
}

const close = ({ reference, open: id }: SimHandle) => closeFile(world.runtime, reference, [id]);
const ofHandle = ({ reference, open: handle }: SimHandle) => ({ reference, handle });

async function textOf(handle: SimHandle): Promise<string> {
  const read = await readFile(world.runtime, { ...ofHandle(handle), from: 0, length: 100 });
  if (read.kind === "fault") return read.fault;
  const { reader, length } = read.value;
  const chunks: Uint8Array[] = [];
  for await (const chunk of reader.read(0, length)) chunks.push(new Uint8Array(chunk));
  reader.close();
  return Buffer.concat(chunks).toString();
}

async function writeText(handle: SimHandle, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  const request = { ...ofHandle(handle), at: 0, bytes, keepsLastWrite: false };
  return (await writeFile(world.runtime, request)).kind;
}

/** Renames a file over another; returns the result, or the fault. */
type Rename = (from: string, to: string) => Promise<string>;
const renames: Readonly<Record<string, Rename>> = {
  SMB: async (from, to) => {
    const source = await open(from.split("/"), { access: Right.delete });
    const path = to.split("/");
    const request = { ...ofHandle(source), path, replaces: true };
    const outcome = await renameFile(world.runtime, request);
    await close(source);
    return outcome.kind === "fault" ? outcome.fault : outcome.kind;
  },
  REST: async (from, to) => {
    const headers = {
      "x-ms-file-rename-source": signedUrl(`/share/${from}`),
      "x-ms-file-rename-replace-if-exists": "true",
    };
    const path = `/share/${to}?comp=rename`;
    const { status, code } = await world.send({ method: "PUT", path, headers });
    return status === 200 ? "done" : (code ?? "");
  },
};

const get = async (path: string) => (await world.send({ method: "GET", path })).body;

function recordsOf<K, R extends object>(table: Table<K, R>): Promise<readonly R[]> {
  return world.store.snapshot(async (view) => {
    const found: R[] = [];
    const records = new Records(view, world.runtime.content);
    for await (const batch of records.scan(table, table.range([]))) {
      found.push(...batch.map(({ record }) => record));
    }
    return found;
  });
}

const usedBytes = ({ reference }: SimHandle) =>
  world.store.snapshot((view) =>
    new Records(view, world.runtime.content).count(shareUsage.key(reference.share.id)),
  );

/** Whether only the root, the directory and `files` are stored, and no lock. */
async function expectOnly(handle: SimHandle, files: readonly string[], bytes: bigint) {
  const names = (await recordsOf(nodes)).map(({ name }) => name);
  expect(names.toSorted()).toEqual(["", "d", ...files].toSorted());
  expect(await recordsOf(nodeLocations)).toHaveLength(1 + files.length);
  expect(await recordsOf(locks)).toEqual([]);
  expect(await usedBytes(handle)).toBe(bytes);
}

describe.each(Object.entries(renames))("a file that a rename over %s replaced", (by, rename) => {
  const replace = () => rename("s", "d/t");

  it("is shown among the open files with its former name", async () => {
    const handle = await open(["d", "t"]);
    expect(await replace()).toBe("done");
    const { items: files } = await world.store.snapshot((view) =>
      openFilePage(new Records(view, world.runtime.content), {
        limit: 10,
        after: undefined,
        sees: () => true,
      }),
    );
    expect(files).toMatchObject([{ path: "t", isDisplaced: true, openCount: 1 }]);
    await close(handle);
  });

  it("is read and written through its handles, and deleted with the last one", async () => {
    const [first, second] = [await open(["d", "t"]), await open(["d", "t"])];
    expect(await replace()).toBe("done");
    expect(await namesIn(world, "/share")).toEqual(["d"]);
    expect(await namesIn(world, "/share/d")).toEqual(["t"]);
    expect(await get("/share/d/t")).toBe("new");
    expect(await writeText(first, "OLD")).toBe("done");
    expect(await textOf(second)).toBe("OLD content");
    expect(await get("/share/d/t")).toBe("new");
    expect(await usedBytes(first)).toBe(14n);
    await close(first);
    expect(await textOf(second)).toBe("OLD content");
    await close(second);
    expect(await textOf(second)).toBe("file-closed");
    await expectOnly(first, ["t"], 3n);
    expect(await get("/share/d/t")).toBe("new");
  });

  it("keeps its byte-range locks, which do not apply to the new file", async () => {
    const handle = await open(["d", "t"]);
    const ranges = [{ offset: 0n, length: 2n, exclusive: true }];
    await lockFile(world.runtime, { ...ofHandle(handle), ranges });
    expect(await replace()).toBe("done");
    const [state] = await recordsOf(locks);
    expect(state).toMatchObject({ deletePending: true, ranges: [{ offset: 0n }] });
    expect((await putRange(world, "/share/d/t", 0, "N")).status).toBe(201);
    await close(handle);
    await expectOnly(handle, ["t"], 3n);
  });

  it("cannot be kept, renamed or opened", async () => {
    const handle = await open(["d", "t"]);
    await replace();
    const mark = (isPending: boolean) =>
      setDeletePending(world.runtime, { ...ofHandle(handle), isPending });
    expect(await mark(false)).toEqual({ kind: "fault", fault: "access-denied" });
    expect(await mark(true)).toMatchObject({ kind: "done" });
    const request = { ...ofHandle(handle), path: ["back"], replaces: false };
    const renamed = await renameFile(world.runtime, request);
    expect(renamed).toEqual({ kind: "fault", fault: "access-denied" });
    const again = await open(["d", "t"]);
    expect(await textOf(again)).toBe("new");
    await close(handle);
    await close(again);
    await expectOnly(handle, ["t"], 3n);
  });

  it("one after another under one name: each handle keeps its own", async () => {
    const first = await open(["d", "t"]);
    expect(await replace()).toBe("done");
    const second = await open(["d", "t"]);
    await newFile(world, "/share/s", "third");
    expect(await replace()).toBe("done");
    expect(await Promise.all([first, second].map(textOf))).toEqual(["old content", "new"]);
    expect(await get("/share/d/t")).toBe("third");
    await close(second);
    await close(first);
    await expectOnly(first, ["t"], 5n);
  });

  it("does not keep its directory from being renamed and deleted", async () => {
    const handle = await open(["d", "t"]);
    await replace();
    const headers = { "x-ms-file-rename-source": signedUrl("/share/d") };
    const path = "/share/e?restype=directory&comp=rename";
    await expectDone(world.send({ method: "PUT", path, headers }));
    await expectDone(world.send({ method: "DELETE", path: "/share/e/t" }));
    await expectDone(world.send({ method: "DELETE", path: "/share/e?restype=directory" }));
    expect(await textOf(handle)).toBe("old content");
    await close(handle);
    expect(await recordsOf(nodes)).toHaveLength(1);
    expect(await usedBytes(handle)).toBe(0n);
  });

  it("is in the share snapshots before the rename only, also if it is written later", async () => {
    const before = await snapshot(world, "/share");
    const handle = await open(["d", "t"]);
    await replace();
    await writeText(handle, "OLD");
    const after = await snapshot(world, "/share");
    await writeText(handle, "?!");
    await close(handle);
    const at = (time: string) => `/share/d/t?sharesnapshot=${encodeURIComponent(time)}`;
    expect(await get(at(before))).toBe("old content");
    expect(await get(at(after))).toBe("new");
    const query = `&sharesnapshot=${encodeURIComponent(after)}`;
    expect(await namesIn(world, "/share", query)).toEqual(["d"]);
    expect(await namesIn(world, "/share/d", query)).toEqual(["t"]);
    const kept = await recordsOf(versions);
    expect(kept.filter(({ parent }) => parent === displacedParent)).toEqual([]);
    await expectOnly(handle, ["t"], 3n);
  });

  it("is deleted when the process that held it has ended", async () => {
    const handle = await open(["d", "t"]);
    await replace();
    expect(await closeOrphanedHandles(world.runtime, async () => new Set())).toBe(1);
    await expectOnly(handle, ["t"], 3n);
  });

  it("is deleted later if its handles were lost with the boot, and not before", async () => {
    const handle = await open(["d", "t"]);
    await replace();
    for (let rounds = 0; rounds < 3; rounds += 1) {
      world.clock.skip(checkMilliseconds);
      expect(await world.reclaim()).toBe(1);
      expect(await textOf(handle)).toBe("old content");
    }
    const key = { share: handle.reference.share.id, id: handle.reference.file };
    await world.store.transact(async (tx) => tx.delete(locks.key(key)));
    world.clock.skip(checkMilliseconds);
    expect(await world.reclaim()).toBe(1);
    await expectOnly(handle, ["t"], 3n);
    world.clock.skip(checkMilliseconds);
    expect(await world.reclaim()).toBe(0);
  });

  it("is shown by List Handles for the root, and closed by force there", async () => {
    const handle = await open(["d", "t"]);
    await replace();
    const headers = { "x-ms-recursive": "true" };
    const list = (path: string) =>
      world.send({ method: "GET", path: `${path}?comp=listhandles`, headers });
    const id = `<HandleId>${handle.open}</HandleId>`;
    expect((await list("/share/")).body).toContain(id);
    expect((await list("/share/d")).body).not.toContain(id);
    expect((await list("/share/d/t")).body).not.toContain(id);
    const closing = { ...headers, "x-ms-handle-id": "*" };
    const path = "/share/?comp=forceclosehandles";
    await expectDone(world.send({ method: "PUT", path, headers: closing }));
    await expectOnly(handle, ["t"], 3n);
  });

  it("waits for the break of handle caching; then the client may keep the handle", async () => {
    const cache = { key: "lease", wanted: 3 };
    const handle = await open(["d", "t"], { cache });
    const renaming = replace();
    const request = { reference: handle.reference, key: "lease", kept: 1 };
    const isBroken = async () =>
      (await recordsOf(locks)).some(({ caches }) => caches[0]?.breaking !== undefined);
    while (!(await isBroken())) await new Promise((resolve) => setImmediate(resolve));
    expect(await acknowledge(world.runtime, request)).toBe("done");
    // An SMB operation that waited is run again by its connection.
    expect(await renaming).toBe(by === "SMB" ? "wait" : "done");
    if (by === "SMB") expect(await replace()).toBe("done");
    expect(await textOf(handle)).toBe("old content");
    await close(handle);
    await expectOnly(handle, ["t"], 3n);
  });

  it("is delete-pending also if its client did not answer the break in time", async () => {
    const handle = await open(["d", "t"], { cache: { key: "lease", wanted: 3 } });
    const { reference } = handle;
    const key = locks.key({ share: reference.share.id, id: reference.file });
    await world.store.transact(async (tx) => {
      const state = locks.codec.decode((await tx.get(key))!);
      const caches = state.caches.map((each) => ({
        ...each,
        breaking: { to: 1, askedAt: tx.now },
      }));
      tx.put(key, locks.codec.encode({ ...state, caches }));
    });
    world.clock.skip(36_000);
    expect(await replace()).toBe("done");
    expect(await recordsOf(locks)).toMatchObject([{ deletePending: true }]);
    await close(handle);
    await expectOnly(handle, ["t"], 3n);
  });

  it("is not replaced if one of its handles does not share deletion", async () => {
    const denied = { SMB: "access-denied", REST: "SharingViolation" }[by];
    const [shares, excludes] = [
      await open(["d", "t"]),
      await open(["d", "t"], { access: 0x80, share: 3 }),
    ];
    expect(await replace()).toBe(denied);
    expect(await get("/share/d/t")).toBe("old content");
    expect(await get("/share/s")).toBe("new");
    await close(excludes);
    expect(await replace()).toBe("done");
    await close(shares);
    await expectOnly(shares, ["t"], 3n);
  });
});
