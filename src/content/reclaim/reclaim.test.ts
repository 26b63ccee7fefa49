import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ticksPerSecond } from "../../base/ticks.ts";
import { asPart, compose, share, type ContentRef } from "../content-ref.ts";
import { openDiskFiles } from "../extents/disk-files.ts";
import { memoryFiles } from "../extents/memory-files.ts";
import { soloHorizons } from "./pins.ts";
import { listExtents } from "../extents/extent-table.ts";
import {
  bytesIn,
  storedLength,
  extentsIn,
  expectSame,
  openContentFixture,
  pattern,
  putBody,
} from "../../../tests/harness/content-fixture.ts";

const extentBytes = 256 * 1024;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-content-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("compaction", () => {
  test("keeps every byte and removes files", async () => {
    const fixture = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    const bodies = new Map<string, Uint8Array>();
    for (let index = 0; index < 60; index += 1) {
      bodies.set(`object-${index}`, pattern(20_000, index));
      await putBody(fixture, `object-${index}`, pattern(20_000, index));
    }
    const before = await bytesIn(folder);
    for (let index = 0; index < 60; index += 1) {
      if (index % 4 === 0) continue;
      bodies.delete(`object-${index}`);
      await fixture.remove(`object-${index}`);
    }
    await fixture.reclaimAll();
    expect(await bytesIn(folder)).toBeLessThan(before * 0.6);
    for (const [name, bytes] of bodies) expectSame(await fixture.read(name), bytes);
    for (const name of bodies.keys()) await fixture.remove(name);
    await fixture.content.close();
    await fixture.reclaimAll();
    expect(await extentsIn(folder)).toEqual([]);
    expect(await fixture.entries()).toBe(0);
  });

  test("begins when the content of an extent is no longer being replaced", async () => {
    const fixture = await openContentFixture({ extentBytes, observedTicks: 4n * ticksPerSecond });
    for (let index = 0; index < 14; index += 1) {
      await putBody(fixture, `object-${index}`, pattern(20_000, index));
    }
    const remove = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index += 1) await fixture.remove(`object-${index}`);
    };
    const last = await fixture.get("object-12");
    await remove(0, 8);
    await fixture.reclaimAll();
    // A second later nothing has changed, which is too short to tell.
    fixture.clock.advance(1_000);
    await fixture.reclaimAll();
    await remove(8, 9);
    fixture.clock.advance(4_000);
    await fixture.reclaimAll();
    expect(await fixture.get("object-12")).toEqual(last);
    fixture.clock.advance(4_000);
    await fixture.reclaimAll();
    expect(await fixture.get("object-12")).not.toEqual(last);
    expectSame(await fixture.read("object-12"), pattern(20_000, 12));
  });

  test("begins although more extents are sparse than are observed at a time", async () => {
    const observedTicks = 4n * ticksPerSecond;
    const fixture = await openContentFixture({
      extentBytes: 4096,
      observedTicks,
      // An encrypted extent cannot be as short as a body.
      areFilesGiven: true,
    });
    const sparseCount = 2200;
    for (let index = 0; index < sparseCount; index += 1) {
      await putBody(fixture, `kept-${index}`, pattern(1000, index));
      await putBody(fixture, "gone", pattern(3000, index));
    }
    await fixture.remove("gone");
    const extentCount = async (): Promise<number> =>
      fixture.store.snapshot(async (view) => (await listExtents(view, 0n, 10_000)).length);
    const before = await extentCount();
    expect(before).toBeGreaterThanOrEqual(sparseCount);
    for (let round = 0; round < 40; round += 1) {
      await fixture.content.reclaim();
      fixture.clock.advance(5_000);
    }
    expect(await extentCount()).toBeLessThan(before / 2);
    expectSame(await fixture.read("kept-7"), pattern(1000, 7));
  });

  test("copies bytes that several records share only once", async () => {
    const fixture = await openContentFixture({ extentBytes });
    await putBody(fixture, "kept", pattern(20_000, 1));
    const ref = (await fixture.get("kept")) as ContentRef;
    await fixture.put("twin", () => share(ref));
    for (let index = 0; index < 14; index += 1) {
      await putBody(fixture, `gone-${index}`, pattern(20_000, index));
      await fixture.remove(`gone-${index}`);
    }
    await fixture.reclaimAll();
    const moved = await fixture.get("kept");
    expect(moved).not.toEqual(ref);
    expect(await fixture.get("twin")).toEqual(moved);
    expectSame(await fixture.read("twin"), pattern(20_000, 1));
  });

  test("moves the leaves of trees, also below a shared root", async () => {
    const fixture = await openContentFixture({ extentBytes });
    const small = await fixture.receive(pattern(600, 5));
    const parts = Array.from({ length: 400 }, (_, index) => asPart(small, `block-${index}`));
    await fixture.put("tree", () => compose(parts));
    fixture.content.discard(small);
    const before = (await fixture.get("tree")) as ContentRef;
    await fixture.put("twin", () => share(before));
    await putBody(fixture, "filler", pattern(extentBytes, 9));
    await fixture.remove("filler");
    const expected = await fixture.read("tree");
    // Shared bytes are counted per reference; an extent is compacted only if less than half is
    // live.
    await fixture.put("tree", (base) => ({
      plan: "edit",
      base,
      edits: [{ edit: "resize", length: 120 * 600 }],
    }));
    await fixture.remove("twin");
    await fixture.reclaimAll();
    const extents = await fixture.store.snapshot((view) => listExtents(view, 0n, 100));
    expect(extents.filter(({ record }) => record.sealedBytes !== undefined)).toEqual([]);
    expectSame(await fixture.read("tree"), expected.slice(0, 120 * 600));
  });

  test("reclaims a long extent before it is full", async () => {
    const fixture = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    await putBody(fixture, "kept", pattern(5000, 1));
    await putBody(fixture, "gone", pattern(50_000, 2));
    await fixture.remove("gone");
    await fixture.reclaimAll();
    expect(await bytesIn(folder)).toBe(storedLength(fixture.files, [5000]));
    expectSame(await fixture.read("kept"), pattern(5000, 1));
  });

  test("merges the small extents of many short runs", async () => {
    const files = await openDiskFiles(folder);
    let fixture = await openContentFixture({ files, horizons: soloHorizons("run-0") });
    for (let run = 1; run <= 20; run += 1) {
      await putBody(fixture, `object-${run}`, pattern(5000, run));
      await fixture.content.close();
      fixture = await openContentFixture({
        store: fixture.store,
        files,
        horizons: soloHorizons(`run-${run}`),
      });
    }
    expect((await extentsIn(folder)).length).toBe(20);
    await fixture.reclaimAll();
    expect((await extentsIn(folder)).length).toBe(1);
    for (let run = 1; run <= 20; run += 1) {
      expectSame(await fixture.read(`object-${run}`), pattern(5000, run));
    }
  });

  test("of an unreadable extent does not block the others", async () => {
    const inner = memoryFiles({ bytesMax: 1 << 24 });
    const lost = new Set<bigint>();
    const files = {
      ...inner,
      open: (extent: bigint) =>
        lost.has(extent) ? Promise.reject(new Error("lost")) : inner.open(extent),
    };
    const fixture = await openContentFixture({ files, extentBytes });
    for (const round of ["first", "second"]) {
      await putBody(fixture, round, pattern(20_000, 1));
      await putBody(fixture, "gone", pattern(extentBytes - 20_000, 2));
      await fixture.remove("gone");
    }
    const first = (await fixture.get("first")) as ContentRef & { kind: "slices" };
    for (const { source } of first.slices) if ("extent" in source) lost.add(source.extent);
    const second = await fixture.get("second");
    await putBody(fixture, "next", pattern(20_000, 3));
    await fixture.reclaimAll();
    expect(await fixture.get("first")).toEqual(first);
    expect(await fixture.get("second")).not.toEqual(second);
  });

  test("leaves damaged bytes in place and logs an error", async () => {
    const lines: string[] = [];
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (_: object, line: string) => void lines.push(line),
    };
    const files = memoryFiles({ bytesMax: 1 << 24 });
    const fixture = await openContentFixture({ files, log, extentBytes, areFilesGiven: true });
    await putBody(fixture, "damaged", pattern(20_000, 1));
    const ref = (await fixture.get("damaged")) as ContentRef & { kind: "slices" };
    const source = ref.slices[0]?.source as { extent: bigint; offset: number };
    await putBody(fixture, "gone", pattern(extentBytes - 20_000, 2));
    await fixture.remove("gone");
    await putBody(fixture, "next", pattern(20_000, 3));
    await (await files.open(source.extent)).write(Uint8Array.of(1, 2, 3), source.offset);
    await fixture.reclaimAll();
    expect(lines).toEqual([
      "stored bytes differ from their checksum and are not copied: run etagere check",
    ]);
    expect(await fixture.get("damaged")).toEqual(ref);
  });
});
