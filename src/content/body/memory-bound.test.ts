import { expect, test } from "vitest";
import type { ExtentFiles } from "../extents/extent-files.ts";
import { memoryFiles } from "../extents/memory-files.ts";
import { openContentFixture } from "../../../tests/harness/content-fixture.ts";

/** Extent storage that discards all bytes with a delay, like a slow disk. */
function forgetfulFiles(): ExtentFiles {
  const write = () => new Promise<void>((resolve) => setImmediate(resolve));
  const done = () => Promise.resolve();
  const file = { write, read: done, sync: write, close: done };
  return {
    ...memoryFiles({ bytesMax: 0 }),
    extentBytes: 256 * 1024 * 1024,
    create: () => Promise.resolve(file),
  };
}

async function* chunksOf(length: number): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < length; sent += chunk.length) {
    await Promise.resolve();
    yield chunk;
  }
}

test("200 concurrent uploads need little memory, whatever their length", async () => {
  const fixture = await openContentFixture({ files: forgetfulFiles() });
  const length = 16 * 1024 * 1024;
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunksOf(length)) {
      peak = Math.max(peak, process.memoryUsage.rss());
      yield chunk;
    }
  };
  const uploads = Array.from({ length: 200 }, (_, index) =>
    fixture.receive(index === 0 ? watch() : chunksOf(length), { length, crc64: false }),
  );
  await Promise.all(uploads);
  expect((peak - before) / 2 ** 20).toBeLessThan(200);
});
