import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asPart, compose, share, whole, write, type ContentRef } from "../content-ref.ts";
import { decodeCounter, StoreBusy, StoreUnavailable } from "../../store/store.ts";
import { openDiskFiles } from "../extents/disk-files.ts";
import { soloHorizons, type HorizonRegistry } from "./pins.ts";
import { listExtents } from "../extents/extent-table.ts";
import {
  bytesIn,
  storedLength,
  extentsIn,
  expectSame,
  openContentFixture,
  pattern,
  putBody,
  readAll,
  testObjects,
  type ContentFixture,
} from "../../../tests/harness/content-fixture.ts";

const extentBytes = 256 * 1024;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-content-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function openReader(fixture: ContentFixture, name: string) {
  return fixture.store.snapshot(async (view) => {
    const value = await view.get(testObjects.key(name));
    const ref = testObjects.codec.decode(value as Uint8Array).content as ContentRef;
    return fixture.content.open(view, ref);
  });
}

describe("a running read", () => {
  test("survives overwriting, deleting and reclaiming", async () => {
    const fixture = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    const first = pattern(1_500_000, 1);
    await putBody(fixture, "a", first);
    const reader = await openReader(fixture, "a");
    const chunks = reader.read(0, reader.length)[Symbol.asyncIterator]();
    const head = new Uint8Array(((await chunks.next()).value as Uint8Array).slice());
    await putBody(fixture, "a", pattern(1_000_000, 2));
    await fixture.remove("a");
    await fixture.reclaimAll();
    const rest = await readAll({ [Symbol.asyncIterator]: () => chunks });
    expect(Buffer.compare(Buffer.concat([head, rest]), first)).toBe(0);
    reader.close();
    await fixture.content.close();
    await fixture.reclaimAll();
    expect(await extentsIn(folder)).toEqual([]);
  });

  test("of a tree still finds its leaves", async () => {
    const fixture = await openContentFixture({ extentBytes });
    const small = await fixture.receive(pattern(600, 5));
    const parts = Array.from({ length: 5000 }, (_, index) => asPart(small, `block-${index}`));
    await fixture.put("tree", () => compose(parts));
    fixture.content.discard(small);
    const expected = await fixture.read("tree");
    const reader = await openReader(fixture, "tree");
    const other = await fixture.receive(pattern(700, 6));
    await fixture.put("tree", (base) => write(base, 1_000_000, other));
    await fixture.reclaimAll();
    await fixture.remove("tree");
    await fixture.reclaimAll();
    expect(Buffer.compare(await readAll(reader.read(0, reader.length)), expected)).toBe(0);
    reader.close();
    reader.close();
    await fixture.reclaimAll();
    await expect(readAll(reader.read(0, reader.length))).rejects.toThrow("missing");
  });

  test("fails as unavailable if this node was fenced and its content deleted", async () => {
    const fenced = new StoreUnavailable("fenced");
    let isFenced = false;
    const horizons = {
      ...soloHorizons("self"),
      assertNotFenced: () => (isFenced ? Promise.reject(fenced) : Promise.resolve()),
    };
    const fixture = await openContentFixture({ extentBytes, horizons });
    const small = await fixture.receive(pattern(600, 5));
    const parts = Array.from({ length: 5000 }, (_, index) => asPart(small, `block-${index}`));
    await fixture.put("tree", () => compose(parts));
    fixture.content.discard(small);
    const reader = await openReader(fixture, "tree");
    // Without its pin, which other nodes ignore.
    reader.close();
    await fixture.remove("tree");
    await fixture.reclaimAll();
    await expect(readAll(reader.read(0, reader.length))).rejects.toThrow("missing");
    isFenced = true;
    await expect(readAll(reader.read(0, reader.length))).rejects.toBe(fenced);
  });

  test("cannot begin in a view below the read horizon", async () => {
    const fixture = await openContentFixture();
    await putBody(fixture, "a", pattern(1000, 1));
    const ref = (await fixture.get("a")) as ContentRef;
    await fixture.store.snapshot(async (view) => {
      await putBody(fixture, "b", pattern(1000, 1));
      await fixture.content.reclaim();
      expect(() => fixture.content.open(view, ref)).toThrow(StoreBusy);
    });
  });
});

describe("several processes", () => {
  function horizonsWith(self: string, others: Map<string, number>): HorizonRegistry {
    const solo = soloHorizons(self);
    return { ...solo, published: async () => new Map([...(await solo.published()), ...others]) };
  }

  test("nothing is deleted above another process's read horizon", async () => {
    const others = new Map([["other", 0]]);
    const fixture = await openContentFixture({
      horizons: horizonsWith("self", others),
      extentBytes,
    });
    await putBody(fixture, "a", pattern(100_000, 1));
    await fixture.remove("a");
    await fixture.content.close();
    await fixture.reclaimAll();
    expect(await fixture.entries()).toBeGreaterThan(0);
    others.set("other", Number.MAX_SAFE_INTEGER);
    await fixture.reclaimAll();
    expect(await fixture.entries()).toBe(0);
  });

  test("only the leader reclaims space", async () => {
    let isLeader = false;
    const fixture = await openContentFixture({ extentBytes, isLeader: async () => isLeader });
    await putBody(fixture, "a", pattern(100_000, 1));
    await fixture.remove("a");
    await fixture.content.close();
    await fixture.reclaimAll();
    expect(await fixture.entries()).toBeGreaterThan(0);
    isLeader = true;
    await fixture.reclaimAll();
    expect(await fixture.entries()).toBe(0);
  });

  test("an extent is kept while its writer runs, and reclaimed after it has ended", async () => {
    const files = await openDiskFiles(folder);
    const first = await openContentFixture({ files, horizons: soloHorizons("first"), extentBytes });
    // Written and flushed, but the process ends before the record is committed.
    await first.receive(pattern(100_000, 1));
    await putBody(first, "kept", pattern(50_000, 2));
    const others = new Map([["first", Number.MAX_SAFE_INTEGER]]);
    const { store } = first;
    const second = await openContentFixture({
      store,
      files,
      horizons: horizonsWith("second", others),
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
    expect(await sealed()).toEqual([storedLength(first.files, [100_000, 50_000])]);
    await second.reclaimAll();
    expectSame(await second.read("kept"), pattern(50_000, 2));
    expect(await bytesIn(folder)).toBe(storedLength(first.files, [50_000]));
  });

  test("a body is kept until its request ends, however long that takes", async () => {
    const fixture = await openContentFixture({ extentBytes });
    const body = await fixture.receive(pattern(100_000, 1));
    for (const name of ["b", "c", "d"]) {
      await putBody(fixture, name, pattern(60_000, 2));
      await fixture.remove(name);
    }
    await fixture.reclaimAll();
    await fixture.put("late", () => whole(body));
    fixture.content.discard(body);
    await fixture.reclaimAll();
    expectSame(await fixture.read("late"), pattern(100_000, 1));
  });
});

test("live bytes are counted per reference", async () => {
  const fixture = await openContentFixture({ extentBytes });
  await putBody(fixture, "a", pattern(1000, 1));
  const ref = (await fixture.get("a")) as ContentRef;
  await fixture.put("b", () => share(ref));
  const [state] = await fixture.store.snapshot((view) => listExtents(view, 0n, 10));
  expect(state?.liveBytes).toBe(2000n);
  expect(decodeCounter(undefined)).toBe(0n);
});
