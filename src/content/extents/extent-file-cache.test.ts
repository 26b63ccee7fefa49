import { expect, test } from "vitest";
import type { ExtentFile } from "./extent-files.ts";
import { ExtentFileCache } from "./extent-file-cache.ts";
import { memoryFiles } from "./memory-files.ts";

test("a late failure to open a file does not remove a later successful one", async () => {
  const files = memoryFiles({ bytesMax: 1 << 20 });
  await (await files.create(7n)).write(new Uint8Array([1, 2, 3]), 0);
  let fail = (_reason: Error): void => undefined;
  const first = new Promise<ExtentFile>((_resolve, reject) => {
    fail = reject;
  });
  const openings = [first];
  const cache = new ExtentFileCache({
    ...files,
    open: (id) => openings.shift() ?? files.open(id),
  });

  const late = cache.read(7n, new Uint8Array(3), 0);
  await cache.drop(7n);
  const bytes = new Uint8Array(3);
  await cache.read(7n, bytes, 0);
  fail(new Error("no such file"));
  await expect(late).rejects.toThrow("no such file");
  expect([...bytes]).toEqual([1, 2, 3]);
  expect(cache.open()).toEqual([7n]);
});

test("a failure to open a file is not cached", async () => {
  const files = memoryFiles({ bytesMax: 1 << 20 });
  const cache = new ExtentFileCache(files);
  await expect(cache.read(7n, new Uint8Array(1), 0)).rejects.toThrow("extent 7 does not exist");
  expect(cache.open()).toEqual([]);
  await (await files.create(7n)).write(new Uint8Array([9]), 0);
  const bytes = new Uint8Array(1);
  await cache.read(7n, bytes, 0);
  expect([...bytes]).toEqual([9]);
});
