import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ContentRef } from "./content-ref.ts";
import { decodeCounter } from "../store/counter.ts";
import { StoreBusy } from "../store/store.ts";
import { openDiskFiles } from "./disk-files.ts";
import { memoryFiles } from "./memory-files.ts";
import { soloPins, type HorizonRegistry } from "./pins.ts";
import { asPart, compose, share, whole, write } from "./plan.ts";
import { listExtents } from "./extent-table.ts";
import {
  expectSame,
  openContentFixture,
  pattern,
  readAll,
  testObjects,
  type ContentFixture,
} from "./testing.ts";

const extentBytes = 256 * 1024;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-content-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function folderBytes(): Promise<number> {
  let total = 0;
  for (const name of await readdir(folder)) total += (await stat(join(folder, name))).size;
  return total;
}

async function putBody(shelf: ContentFixture, name: string, bytes: Uint8Array): Promise<void> {
  const received = await shelf.receive(bytes);
  await shelf.put(name, () => whole(received));
  shelf.content.discard(received);
}

async function openReader(shelf: ContentFixture, name: string) {
  return shelf.store.snapshot(async (view) => {
    const value = await view.get(testObjects.key(name));
    const ref = testObjects.codec.decode(value as Uint8Array).content as ContentRef;
    return shelf.content.open(view, ref);
  });
}

describe("compaction", () => {
  test("keeps every byte and gives files back", async () => {
    const shelf = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    const bodies = new Map<string, Uint8Array>();
    for (let index = 0; index < 60; index += 1) {
      bodies.set(`object-${index}`, pattern(20_000, index));
      await putBody(shelf, `object-${index}`, pattern(20_000, index));
    }
    const before = await folderBytes();
    for (let index = 0; index < 60; index += 1) {
      if (index % 4 === 0) continue;
      bodies.delete(`object-${index}`);
      await shelf.remove(`object-${index}`);
    }
    await shelf.reclaimAll();
    expect(await folderBytes()).toBeLessThan(before * 0.6);
    for (const [name, bytes] of bodies) expectSame(await shelf.read(name), bytes);
    for (const name of bodies.keys()) await shelf.remove(name);
    await shelf.content.close();
    await shelf.reclaimAll();
    expect(await readdir(folder)).toEqual([]);
    expect(await shelf.entries()).toBe(0);
  });

  test("copies bytes that several records share only once", async () => {
    const shelf = await openContentFixture({ extentBytes });
    await putBody(shelf, "kept", pattern(20_000, 1));
    const ref = (await shelf.get("kept")) as ContentRef;
    await shelf.put("twin", () => share(ref));
    for (let index = 0; index < 14; index += 1) {
      await putBody(shelf, `gone-${index}`, pattern(20_000, index));
      await shelf.remove(`gone-${index}`);
    }
    await shelf.reclaimAll();
    const moved = await shelf.get("kept");
    expect(moved).not.toEqual(ref);
    expect(await shelf.get("twin")).toEqual(moved);
    expectSame(await shelf.read("twin"), pattern(20_000, 1));
  });

  test("moves the leaves of trees, also below a shared root", async () => {
    const shelf = await openContentFixture({ extentBytes });
    const small = await shelf.receive(pattern(600, 5));
    const parts = Array.from({ length: 400 }, (_, index) => asPart(small, `block-${index}`));
    await shelf.put("tree", () => compose(parts));
    shelf.content.discard(small);
    const before = (await shelf.get("tree")) as ContentRef;
    await shelf.put("twin", () => share(before));
    await putBody(shelf, "filler", pattern(extentBytes, 9));
    await shelf.remove("filler");
    const expected = await shelf.read("tree");
    // Bytes that are referred to often count often; only a count below half is compacted.
    await shelf.put("tree", (base) => ({
      plan: "edit",
      base,
      edits: [{ edit: "resize", length: 120 * 600 }],
    }));
    await shelf.remove("twin");
    await shelf.reclaimAll();
    const extents = await shelf.store.snapshot((view) => listExtents(view, 0n, 100));
    expect(extents.filter(({ record }) => record.sealedBytes !== undefined)).toEqual([]);
    expectSame(await shelf.read("tree"), expected.slice(0, 120 * 600));
  });

  test("does not wait for a long extent to be full before its space comes back", async () => {
    const shelf = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    await putBody(shelf, "kept", pattern(5000, 1));
    await putBody(shelf, "gone", pattern(50_000, 2));
    await shelf.remove("gone");
    await shelf.reclaimAll();
    expect(await folderBytes()).toBe(5000);
    expectSame(await shelf.read("kept"), pattern(5000, 1));
  });

  test("brings the small extents of many short runs together", async () => {
    const files = await openDiskFiles(folder);
    let shelf = await openContentFixture({ files, pins: soloPins("run-0") });
    for (let run = 1; run <= 20; run += 1) {
      await putBody(shelf, `object-${run}`, pattern(5000, run));
      await shelf.content.close();
      shelf = await openContentFixture({ store: shelf.store, files, pins: soloPins(`run-${run}`) });
    }
    expect((await readdir(folder)).length).toBe(20);
    await shelf.reclaimAll();
    expect((await readdir(folder)).length).toBe(1);
    for (let run = 1; run <= 20; run += 1) {
      expectSame(await shelf.read(`object-${run}`), pattern(5000, run));
    }
  });

  test("of an extent that cannot be read does not keep the others waiting", async () => {
    const inner = memoryFiles({ bytesMax: 1 << 24 });
    const lost = new Set<bigint>();
    const files = {
      ...inner,
      open: (extent: bigint) =>
        lost.has(extent) ? Promise.reject(new Error("lost")) : inner.open(extent),
    };
    const shelf = await openContentFixture({ files, extentBytes });
    for (const round of ["first", "second"]) {
      await putBody(shelf, round, pattern(20_000, 1));
      await putBody(shelf, "gone", pattern(extentBytes - 20_000, 2));
      await shelf.remove("gone");
    }
    const first = (await shelf.get("first")) as ContentRef & { kind: "slices" };
    for (const { source } of first.slices) if ("extent" in source) lost.add(source.extent);
    const second = await shelf.get("second");
    await putBody(shelf, "next", pattern(20_000, 3));
    await shelf.reclaimAll();
    expect(await shelf.get("first")).toEqual(first);
    expect(await shelf.get("second")).not.toEqual(second);
  });

  test("leaves damaged bytes where they are, and says so", async () => {
    const lines: string[] = [];
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (_: object, line: string) => void lines.push(line),
    };
    const files = memoryFiles({ bytesMax: 1 << 24 });
    const shelf = await openContentFixture({ files, log, extentBytes });
    await putBody(shelf, "damaged", pattern(20_000, 1));
    const ref = (await shelf.get("damaged")) as ContentRef & { kind: "slices" };
    const source = ref.slices[0]?.source as { extent: bigint; offset: number };
    await putBody(shelf, "gone", pattern(extentBytes - 20_000, 2));
    await shelf.remove("gone");
    await putBody(shelf, "next", pattern(20_000, 3));
    await (await files.open(source.extent)).write(Uint8Array.of(1, 2, 3), source.offset);
    await shelf.reclaimAll();
    expect(lines).toEqual(["stored bytes differ from their checksum"]);
    expect(await shelf.get("damaged")).toEqual(ref);
  });
});

describe("a running read", () => {
  test("survives overwriting, deleting and reclaiming", async () => {
    const shelf = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    const first = pattern(1_500_000, 1);
    await putBody(shelf, "a", first);
    const reader = await openReader(shelf, "a");
    const chunks = reader.read(0, reader.length)[Symbol.asyncIterator]();
    const head = new Uint8Array(((await chunks.next()).value as Uint8Array).slice());
    await putBody(shelf, "a", pattern(1_000_000, 2));
    await shelf.remove("a");
    await shelf.reclaimAll();
    const rest = await readAll({ [Symbol.asyncIterator]: () => chunks });
    expect(Buffer.compare(Buffer.concat([head, rest]), first)).toBe(0);
    reader.close();
    await shelf.content.close();
    await shelf.reclaimAll();
    expect(await readdir(folder)).toEqual([]);
  });

  test("of a tree still finds its leaves", async () => {
    const shelf = await openContentFixture({ extentBytes });
    const small = await shelf.receive(pattern(600, 5));
    const parts = Array.from({ length: 5000 }, (_, index) => asPart(small, `block-${index}`));
    await shelf.put("tree", () => compose(parts));
    shelf.content.discard(small);
    const expected = await shelf.read("tree");
    const reader = await openReader(shelf, "tree");
    const other = await shelf.receive(pattern(700, 6));
    await shelf.put("tree", (base) => write(base, 1_000_000, other));
    await shelf.reclaimAll();
    await shelf.remove("tree");
    await shelf.reclaimAll();
    expect(Buffer.compare(await readAll(reader.read(0, reader.length)), expected)).toBe(0);
    reader.close();
    reader.close();
    await shelf.reclaimAll();
    await expect(readAll(reader.read(0, reader.length))).rejects.toThrow("missing");
  });

  test("cannot begin in a view older than what was promised", async () => {
    const shelf = await openContentFixture();
    await putBody(shelf, "a", pattern(1000, 1));
    const ref = (await shelf.get("a")) as ContentRef;
    await shelf.store.snapshot(async (view) => {
      await putBody(shelf, "b", pattern(1000, 1));
      await shelf.content.reclaim();
      expect(() => shelf.content.open(view, ref)).toThrow(StoreBusy);
    });
  });
});

describe("several processes", () => {
  function pinsWith(self: string, others: Map<string, number>): HorizonRegistry {
    const solo = soloPins(self);
    return { ...solo, published: async () => new Map([...(await solo.published()), ...others]) };
  }

  test("nothing goes that another one's promise does not reach", async () => {
    const others = new Map([["other", 0]]);
    const shelf = await openContentFixture({ pins: pinsWith("self", others), extentBytes });
    await putBody(shelf, "a", pattern(100_000, 1));
    await shelf.remove("a");
    await shelf.content.close();
    await shelf.reclaimAll();
    expect(await shelf.entries()).toBeGreaterThan(0);
    others.set("other", Number.MAX_SAFE_INTEGER);
    await shelf.reclaimAll();
    expect(await shelf.entries()).toBe(0);
  });

  test("an extent is left alone while its writer lives, and swept when it is dead", async () => {
    const files = await openDiskFiles(folder);
    const first = await openContentFixture({ files, pins: soloPins("first"), extentBytes });
    // Written and synced, but the process ends before the record is committed.
    await first.receive(pattern(100_000, 1));
    await putBody(first, "kept", pattern(50_000, 2));
    const others = new Map([["first", Number.MAX_SAFE_INTEGER]]);
    const { store } = first;
    const second = await openContentFixture({
      store,
      files,
      pins: pinsWith("second", others),
      extentBytes,
    });
    const sealed = async () =>
      (await store.snapshot((view) => listExtents(view, 0n, 10))).map(
        ({ record }) => record.sealedBytes,
      );
    await second.reclaimAll();
    expect(await sealed()).toEqual([undefined]);
    others.clear();
    await second.content.reclaim();
    expect(await sealed()).toEqual([150_000]);
    await second.reclaimAll();
    expectSame(await second.read("kept"), pattern(50_000, 2));
    expect(await folderBytes()).toBe(50_000);
  });

  test("a body in a request's hands is not swept, however long that takes", async () => {
    const shelf = await openContentFixture({ extentBytes });
    const held = await shelf.receive(pattern(100_000, 1));
    for (const name of ["b", "c", "d"]) {
      await putBody(shelf, name, pattern(60_000, 2));
      await shelf.remove(name);
    }
    await shelf.reclaimAll();
    await shelf.put("late", () => whole(held));
    shelf.content.discard(held);
    await shelf.reclaimAll();
    expectSame(await shelf.read("late"), pattern(100_000, 1));
  });
});

test("live bytes are counted per reference", async () => {
  const shelf = await openContentFixture({ extentBytes });
  await putBody(shelf, "a", pattern(1000, 1));
  const ref = (await shelf.get("a")) as ContentRef;
  await shelf.put("b", () => share(ref));
  const [state] = await shelf.store.snapshot((view) => listExtents(view, 0n, 10));
  expect(state?.liveBytes).toBe(2000n);
  expect(decodeCounter(undefined)).toBe(0n);
});
