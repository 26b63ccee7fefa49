import { beforeEach, describe, expect, it } from "vitest";
import { closeFile } from "../../src/file/filesystem/close.ts";
import { setDeletePending } from "../../src/file/filesystem/set-info.ts";
import { acknowledge, lockFile } from "../../src/file/filesystem/lock.ts";
import { Right } from "../../src/file/locks/access.ts";
import { locks } from "../../src/file/records.ts";
import { expectDone, namesIn, newFile, newShare, putRange } from "../harness/file-steps.ts";
import { simFile, type SimFile, type SimHandle, type SimOpen } from "../harness/sim-file.ts";

let world: SimFile;
const file = "/share/f";
const content = "0123456789";

beforeEach(async () => {
  world = await simFile();
  await newShare(world);
  await newFile(world, file, content);
});

async function open(request: Partial<SimOpen> = {}): Promise<SimHandle> {
  const access = Right.readData | Right.writeData;
  const handle = await world.open("share", { path: ["f"], access, share: 7, ...request });
  if (typeof handle === "string") throw new Error(handle);
  return handle;
}

const close = ({ reference, open: id }: SimHandle) => closeFile(world.runtime, reference, [id]);
const get = () => world.send({ method: "GET", path: file });
const remove = () => world.send({ method: "DELETE", path: file });

describe("6 share modes", () => {
  it("an open that shares nothing blocks REST until it is closed", async () => {
    const handle = await open({ share: 0 });
    expect((await get()).code).toBe("SharingViolation");
    expect((await putRange(world, file, 0, "x")).code).toBe("SharingViolation");
    expect((await world.send({ method: "HEAD", path: file })).status).toBe(200);
    await close(handle);
    expect((await get()).body).toBe(content);
    expect((await putRange(world, file, 0, "x")).status).toBe(201);
  });

  it("an open that shares reads lets REST read but not write", async () => {
    await open({ share: 1 });
    expect((await get()).status).toBe(200);
    expect((await putRange(world, file, 0, "x")).code).toBe("SharingViolation");
  });

  it("a rejected request changes nothing", async () => {
    const before = (await world.send({ method: "HEAD", path: file })).headers;
    await open({ share: 0 });
    await putRange(world, file, 0, "x");
    await world.send({
      method: "PUT",
      path: `${file}?comp=metadata`,
      headers: { "x-ms-meta-a": "b" },
    });
    await remove();
    const after = (await world.send({ method: "HEAD", path: file })).headers;
    expect(after["etag"]).toBe(before["etag"] ?? "no ETag");
  });

  it("REST deletes no file with an open handle, whatever the share mode", async () => {
    const handle = await open({ access: 0x80 });
    expect((await remove()).code).toBe("SharingViolation");
    await close(handle);
    expect((await remove()).status).toBe(202);
  });

  it("a lease blocks SMB writers, and SMB writers block leases", async () => {
    const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    const acquire = () => world.send({ method: "PUT", path: `${file}?comp=lease`, headers });
    const handle = await open();
    expect((await acquire()).code).toBe("SharingViolation");
    await close(handle);
    await expectDone(acquire());
    const request = { path: ["f"], share: 7 };
    expect(await world.open("share", { ...request, access: Right.writeData })).toBe(
      "sharing-violation",
    );
    expect(await world.open("share", { ...request, access: Right.readData })).not.toBeTypeOf(
      "string",
    );
  });
});

describe("6 byte-range locks", () => {
  it("a locked range is blocked, and no other", async () => {
    const { reference, open: id } = await open();
    const ranges = [{ offset: 2n, length: 3n, exclusive: true }];
    await lockFile(world.runtime, { reference, handle: id, ranges });
    expect((await get()).code).toBe("FileLockConflict");
    expect((await putRange(world, file, 4, "x")).code).toBe("FileLockConflict");
    expect((await putRange(world, file, 5, "x")).status).toBe(201);
    const headers = { "x-ms-range": "bytes=5-6" };
    expect((await world.send({ method: "GET", path: file, headers })).body).toBe("x6");
  });
});

describe("6 byte-range locks against caches", () => {
  it("a lock waits until another client's cached writes are in the file", async () => {
    const holder = await open();
    const { reference, open: id } = await open();
    const key = { share: reference.share.id, id: reference.file };
    // Such caching is never granted while other handles are open; locking does not rely on it.
    await world.store.transact(async (tx) => {
      const state = locks.codec.decode((await tx.get(locks.key(key)))!);
      const opens = state.opens.map((each) =>
        each.id === holder.open ? { ...each, cacheKey: "lease" } : each,
      );
      const caches = [{ key: "lease", held: 5, epoch: 1 }];
      tx.put(locks.key(key), locks.codec.encode({ ...state, opens, caches }));
    });
    const ranges = [{ offset: 0n, length: 1n, exclusive: true }];
    const lock = () => lockFile(world.runtime, { reference, handle: id, ranges });
    expect((await lock()).kind).toBe("wait");
    expect(await acknowledge(world.runtime, { reference, key: "lease", kept: 0 })).toBe("done");
    expect((await lock()).kind).toBe("done");
    expect((await putRange(world, file, 0, "x")).code).toBe("FileLockConflict");
  });
});

describe("6 delete pending", () => {
  it("a delete-pending file is neither listed nor reachable, and the mark can be removed", async () => {
    const handle = await open({ access: Right.delete });
    const { reference, open: id } = handle;
    await setDeletePending(world.runtime, { reference, handle: id, isPending: true });
    for (const answer of [await get(), await putRange(world, file, 0, "x"), await remove()]) {
      expect([answer.status, answer.code]).toEqual([409, "DeletePending"]);
    }
    expect((await get()).body).toContain("SMBDeletePending");
    expect(await namesIn(world, "/share")).toEqual([]);
    await setDeletePending(world.runtime, { reference, handle: id, isPending: false });
    expect((await get()).status).toBe(200);
    expect(await namesIn(world, "/share")).toEqual(["f"]);
  });

  it("404 only after the last handle is closed", async () => {
    const first = await open({ access: Right.delete });
    const second = await open();
    await setDeletePending(world.runtime, {
      reference: first.reference,
      handle: first.open,
      isPending: true,
    });
    await close(first);
    expect((await get()).code).toBe("DeletePending");
    await close(second);
    expect((await get()).code).toBe("ResourceNotFound");
  });
});

describe("6 caches", () => {
  it("a read waits until a client has given up write caching", async () => {
    const handle = await open({ cache: { key: "lease", wanted: 7 } });
    let answered = false;
    const reading = get().then((answer) => {
      answered = true;
      return answer;
    });
    await settle();
    expect(answered).toBe(false);
    const acknowledgement = { reference: handle.reference, key: "lease", kept: 3 };
    expect(await acknowledge(world.runtime, acknowledgement)).toBe("done");
    expect((await reading).body).toBe(content);
  });

  it("a break without acknowledgement takes 35 s and ends with 500", async () => {
    await open({ cache: { key: "lease", wanted: 7 } });
    const reading = get();
    await settle();
    world.clock.advance(31_000);
    expect((await reading).code).toBe("ClientCacheFlushDelay");
  });
});

describe("6 handles", () => {
  it("are listed and closed over REST", async () => {
    const handle = await open();
    const path = `${file}?comp=listhandles`;
    const listed = await world.send({ method: "GET", path });
    expect(listed.body).toContain(`<HandleId>${handle.open}</HandleId><Path>f</Path>`);
    const all = await world.send({
      method: "PUT",
      path: "/share?comp=forceclosehandles",
      headers: { "x-ms-handle-id": "*", "x-ms-recursive": "true" },
    });
    expect(all.headers["x-ms-number-of-handles-closed"]).toBe("1");
    expect((await world.send({ method: "GET", path })).body).toContain("<Entries />");
    expect((await remove()).status).toBe(202);
  });

  it("are listed page by page, each once, in their directory only", async () => {
    for (const path of ["/share/d", "/share/d/e"]) {
      await world.send({ method: "PUT", path: `${path}?restype=directory` });
    }
    const opened: string[] = [];
    const paths = [
      ["d", "a"],
      ["d", "e", "b"],
      ["d", "e", "c"],
    ];
    for (const path of paths) {
      const headers = { "x-ms-type": "file", "x-ms-content-length": "0" };
      await world.send({ method: "PUT", path: `/share/${path.join("/")}`, headers });
      opened.push(String((await open({ path })).open), String((await open({ path })).open));
    }
    const other = String((await open()).open);
    expect(await listedHandles("/share/d", 1)).toEqual(opened);
    expect(await listedHandles("/share/d", 4)).toEqual(opened);
    expect(await listedHandles("/share/d/e", 3)).toEqual(opened.slice(2));
    expect(await listedHandles("/share", 100)).toEqual([...opened, other]);
  });
});

/** All pages of a recursive list, in ascending order: files have random ids. */
async function listedHandles(path: string, pageSize: number): Promise<readonly string[]> {
  const found: string[] = [];
  let marker = "";
  for (let pages = 0; pages < 20; pages += 1) {
    const query = `comp=listhandles&maxresults=${pageSize}&marker=${encodeURIComponent(marker)}`;
    const headers = { "x-ms-recursive": "true" };
    const { body } = await world.send({ method: "GET", path: `${path}?${query}`, headers });
    const ids = [...body.matchAll(/<HandleId>(\d+)</g)].map(([, id]) => id!);
    expect(ids.length).toBeLessThanOrEqual(pageSize);
    found.push(...ids);
    marker = /<NextMarker>([^<]+)</.exec(body)?.[1] ?? "";
    if (marker === "") return found.toSorted();
  }
  throw new Error("the list has no end");
}

const settlingTurns = 50;

/**
 * Lets pending work finish that needs no time to pass: the store answers its reads before as many
 * of ours.
 */
async function settle(): Promise<void> {
  for (let turn = 0; turn < settlingTurns; turn += 1) {
    await world.store.snapshot(() => Promise.resolve());
    await new Promise((resolve) => setImmediate(resolve));
  }
}
