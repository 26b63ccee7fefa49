import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailable } from "../store/store.ts";
import { openDiskFiles } from "./extents/disk-files.ts";
import type { ExtentFiles } from "./extents/extent-files.ts";
import { memoryFiles } from "./extents/memory-files.ts";
import { whole } from "./content-ref.ts";
import {
  expectSame,
  extentsIn,
  openContentFixture,
  pattern,
  type ContentFixture,
} from "../../tests/harness/content-fixture.ts";

const extentBytes = 256 * 1024;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-full-content-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Extent storage on a disk that tests can declare full. */
async function limitedFiles(disk: { isFull: boolean }): Promise<ExtentFiles> {
  const files = await openDiskFiles(folder);
  return {
    ...files,
    async create(extent) {
      const file = await files.create(extent);
      return {
        ...file,
        async write(bytes, position) {
          // A part of the write may succeed.
          if (disk.isFull) await file.write(bytes.subarray(0, bytes.length / 2), position);
          if (disk.isFull) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
          await file.write(bytes, position);
        },
      };
    },
  };
}

async function putBody(fixture: ContentFixture, name: string, bytes: Uint8Array): Promise<void> {
  const received = await fixture.receive(bytes);
  await fixture.put(name, () => whole(received));
  fixture.content.discard(received);
}

const sizes = async (): Promise<readonly number[]> => {
  const names = await extentsIn(folder);
  return Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
};

/** Encrypted extents have no spare space, and other lengths. */
const areFilesGiven = true;

/** Content with so many bodies, on a disk that tests can declare full. */
async function filledFixture(bodies: number) {
  const disk = { isFull: false };
  const files = await limitedFiles(disk);
  const fixture = await openContentFixture({ files, extentBytes, areFilesGiven });
  for (let index = 0; index < bodies; index += 1) {
    await putBody(fixture, `object-${index}`, pattern(20_000, index));
  }
  return { disk, fixture };
}

describe("extents on a full disk", () => {
  test("free the blocks of a body that did not fit", async () => {
    const disk = { isFull: false };
    const fixture = await openContentFixture({
      files: await limitedFiles(disk),
      extentBytes,
      areFilesGiven,
    });
    await putBody(fixture, "kept", pattern(20_000, 1));
    disk.isFull = true;
    await expect(fixture.receive(pattern(100_000, 2))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await sizes()).toEqual([20_000]);
    disk.isFull = false;
    await putBody(fixture, "later", pattern(100_000, 3));
    expectSame(await fixture.read("kept"), pattern(20_000, 1));
    expectSame(await fixture.read("later"), pattern(100_000, 3));
  });

  test("without live bytes are removed although others cannot be compacted", async () => {
    const { disk, fixture } = await filledFixture(48);
    const before = (await sizes()).length;
    disk.isFull = true;
    // One body remains in the first extent, none in the others.
    for (let index = 1; index < 48; index += 1) await fixture.remove(`object-${index}`);
    await fixture.reclaimAll();
    expect(before).toBeGreaterThan(3);
    expect((await sizes()).filter((size) => size > 0)).toHaveLength(1);
    expectSame(await fixture.read("object-0"), pattern(20_000, 0));
    disk.isFull = false;
    await fixture.reclaimAll();
    expectSame(await fixture.read("object-0"), pattern(20_000, 0));
  });

  test.each([
    ["at the start of the extent", 0],
    ["at its end", 11],
    ["in its middle", 5],
  ])("are cut although a body %s is live", async (_, kept) => {
    const { disk, fixture } = await filledFixture(12);
    disk.isFull = true;
    await expect(fixture.receive(pattern(100_000, 2))).rejects.toBeInstanceOf(StoreUnavailable);
    for (let index = 0; index < 12; index += 1) {
      if (index !== kept) await fixture.remove(`object-${index}`);
    }
    await fixture.reclaimAll();
    expect((await sizes()).reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
    expectSame(await fixture.read(`object-${kept}`), pattern(20_000, kept));
  });

  test("are sealed and shrink although most of their bytes are live", async () => {
    const { disk, fixture } = await filledFixture(12);
    disk.isFull = true;
    await expect(fixture.receive(pattern(100_000, 2))).rejects.toBeInstanceOf(StoreUnavailable);
    for (let index = 0; index < 4; index += 1) await fixture.remove(`object-${index}`);
    await fixture.reclaimAll();
    expect((await sizes()).reduce((sum, size) => sum + size, 0)).toBeLessThan(9 * 20_000);
    for (let index = 4; index < 12; index += 1) {
      expectSame(await fixture.read(`object-${index}`), pattern(20_000, index));
    }
  });

  test("move a part of a body that is longer than the spare space", async () => {
    const files = memoryFiles({ bytesMax: 16 * 64 * 1024 });
    const fixture = await openContentFixture({ files, extentBytes: 8 * 64 * 1024, areFilesGiven });
    await putBody(fixture, "dead", pattern(300_000, 1));
    await putBody(fixture, "live", pattern(200_000, 2));
    for (const index of [3, 4]) await putBody(fixture, `full-${index}`, pattern(250_000, index));
    await expect(fixture.receive(pattern(100_000, 5))).rejects.toBeInstanceOf(StoreUnavailable);
    await fixture.remove("dead");
    await fixture.reclaimAll();
    await putBody(fixture, "later", pattern(100_000, 6));
    expectSame(await fixture.read("live"), pattern(200_000, 2));
    expectSame(await fixture.read("full-3"), pattern(250_000, 3));
    expectSame(await fixture.read("later"), pattern(100_000, 6));
  });

  test("reject writes after their file was deleted", async () => {
    const fixture = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    await putBody(fixture, "kept", pattern(20_000, 1));
    for (const name of await readdir(folder)) await rm(join(folder, name));
    await expect(fixture.receive(pattern(20_000, 2))).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
