import { expect, test } from "vitest";
import type { ExtentFile } from "./extent-files.ts";
import { ExtentFileCache } from "./extent-file-cache.ts";
import { memoryFiles } from "./memory-files.ts";

test("an opening that fails late does not take away the one that came after it", async () => {
  const files = memoryFiles({ bytesMax: 1 << 20 });
  await (await files.create(7n)).write(new Uint8Array([1, 2, 3]), 0);
  let fail = (_reason: Error): void => undefined;
  const first = new Promise<ExtentFile>((_resolve, reject) => {
    fail = reject;
  });
  const openings = [first];
  const handles = new ExtentFileCache({
    ...files,
    open: (id) => openings.shift() ?? files.open(id),
  });

  const late = handles.read(7n, new Uint8Array(3), 0);
  await handles.drop(7n);
  const bytes = new Uint8Array(3);
  await handles.read(7n, bytes, 0);
  fail(new Error("no such file"));
  await expect(late).rejects.toThrow("no such file");
  expect([...bytes]).toEqual([1, 2, 3]);
  expect(handles.open()).toEqual([7n]);
});

test("an opening that failed is not remembered", async () => {
  const files = memoryFiles({ bytesMax: 1 << 20 });
  const handles = new ExtentFileCache(files);
  await expect(handles.read(7n, new Uint8Array(1), 0)).rejects.toThrow("there is no extent 7");
  expect(handles.open()).toEqual([]);
  await (await files.create(7n)).write(new Uint8Array([9]), 0);
  const bytes = new Uint8Array(1);
  await handles.read(7n, bytes, 0);
  expect([...bytes]).toEqual([9]);
});
