import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailable } from "../store/store.ts";
import { openDiskFiles } from "./disk-files.ts";
import type { ExtentFiles } from "./extent-files.ts";
import { whole } from "./plan.ts";
import { expectSame, openContentFixture, pattern, type ContentFixture } from "./testing.ts";

const extentBytes = 256 * 1024;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-full-content-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Files on a disk that is full as soon as a test says so. */
async function limitedFiles(disk: { isFull: boolean }): Promise<ExtentFiles> {
  const files = await openDiskFiles(folder);
  return {
    ...files,
    async create(extent) {
      const file = await files.create(extent);
      return {
        ...file,
        async write(bytes, position) {
          // The first blocks may still be there.
          if (disk.isFull) await file.write(bytes.subarray(0, bytes.length / 2), position);
          if (disk.isFull) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
          await file.write(bytes, position);
        },
      };
    },
  };
}

async function putBody(shelf: ContentFixture, name: string, bytes: Uint8Array): Promise<void> {
  const received = await shelf.receive(bytes);
  await shelf.put(name, () => whole(received));
  shelf.content.discard(received);
}

const sizes = async (): Promise<readonly number[]> =>
  Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));

describe("extents on a full disk", () => {
  test("give the blocks of a body that did not fit back", async () => {
    const disk = { isFull: false };
    const shelf = await openContentFixture({ files: await limitedFiles(disk), extentBytes });
    await putBody(shelf, "kept", pattern(20_000, 1));
    disk.isFull = true;
    await expect(shelf.receive(pattern(100_000, 2))).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await sizes()).toEqual([20_000]);
    disk.isFull = false;
    await putBody(shelf, "later", pattern(100_000, 3));
    expectSame(await shelf.read("kept"), pattern(20_000, 1));
    expectSame(await shelf.read("later"), pattern(100_000, 3));
  });

  test("that are wholly dead go although others cannot be compacted", async () => {
    const disk = { isFull: false };
    const shelf = await openContentFixture({ files: await limitedFiles(disk), extentBytes });
    for (let index = 0; index < 48; index += 1) {
      await putBody(shelf, `object-${index}`, pattern(20_000, index));
    }
    const before = (await sizes()).length;
    disk.isFull = true;
    // One is left in the first extent, none in the others.
    for (let index = 1; index < 48; index += 1) await shelf.remove(`object-${index}`);
    await shelf.reclaimAll();
    expect(before).toBeGreaterThan(3);
    expect((await sizes()).filter((size) => size > 0)).toHaveLength(1);
    expectSame(await shelf.read("object-0"), pattern(20_000, 0));
    disk.isFull = false;
    await shelf.reclaimAll();
    expectSame(await shelf.read("object-0"), pattern(20_000, 0));
  });

  test("take no more bytes once their file was deleted", async () => {
    const shelf = await openContentFixture({ files: await openDiskFiles(folder), extentBytes });
    await putBody(shelf, "kept", pattern(20_000, 1));
    for (const name of await readdir(folder)) await rm(join(folder, name));
    await expect(shelf.receive(pattern(20_000, 2))).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
