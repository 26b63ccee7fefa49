import { describe, expect, test } from "vitest";
import { acquireBuffer } from "../../process/bytes.ts";
import { md5Of } from "./checksums.ts";
import type { ExtentFile } from "../extents/extent-files.ts";
import { Md5Thread, Md5Threads, type Md5Sum } from "./md5-thread.ts";
import { memoryFiles } from "../extents/memory-files.ts";
import { openContentFixture, pattern } from "../../../tests/harness/content-fixture.ts";

const mebibyte = 1024 * 1024;

describe("the MD5 thread", () => {
  test("computes the sums of bodies that arrive at the same time", async () => {
    const thread = new Md5Thread();
    const bodies = [1, 2, 3].map((seed) => pattern(100_000, seed));
    const sums = bodies.map(() => thread.begin());
    for (const from of [0, 50_000]) {
      const updates = sums.map((sum, at) => sum.update(bodies[at]!.subarray(from, from + 50_000)));
      await Promise.all(updates);
    }
    const digests = await Promise.all(sums.map((sum) => sum.digest()));
    expect(digests.map(hex)).toEqual(bodies.map((body) => hex(md5Of(body))));
    await thread.close();
  });

  test("is not the only one if a body would wait for it", async () => {
    const [first, second] = [new Md5Thread(), new Md5Thread()];
    const threads = new Md5Threads(first, second);
    const bodies = [1, 2, 3, 4].map((seed) => pattern(mebibyte, seed));
    const digests = bodies.map((body) => threads.begin().digest(body));
    expect([first.waiting, second.waiting]).toEqual([2, 2]);
    expect((await Promise.all(digests)).map(hex)).toEqual(bodies.map((body) => hex(md5Of(body))));
    await threads.close();
  });

  test("has read the bytes when an update resolves", async () => {
    const thread = new Md5Thread();
    const buffer = acquireBuffer();
    const sum = thread.begin();
    for (const value of [1, 2]) {
      buffer.fill(value);
      await sum.update(buffer);
    }
    const half = buffer.length;
    const expected = Buffer.concat([Buffer.alloc(half, 1), Buffer.alloc(half, 2)]);
    expect(hex(await sum.digest())).toBe(hex(md5Of(expected)));
    await thread.close();
  });

  test("hashes a body while it is received and flushed", async () => {
    let flush = (): void => undefined;
    const flushed = new Promise<void>((resolve) => (flush = resolve));
    // Answers nothing before the flush, so that nothing may wait for it until then.
    class LateThread extends Md5Thread {
      override begin(): Md5Sum {
        const sum = super.begin();
        return {
          ...sum,
          update: (bytes) => flushed.then(() => sum.update(bytes)),
          digest: (bytes) => flushed.then(() => sum.digest(bytes)),
        };
      }
    }
    const md5Thread = new LateThread();
    const files = memoryFiles({ bytesMax: 16 * mebibyte });
    const create = async (extent: bigint): Promise<ExtentFile> => {
      const file = await files.create(extent);
      return Object.assign(file, { sync: async () => flush() });
    };
    const fixture = await openContentFixture({ md5Thread, files: { ...files, create } });
    const bytes = pattern(mebibyte, 1);
    const received = await fixture.receive(bytes, { length: bytes.length, md5: true });
    expect(hex(received.md5!)).toBe(hex(md5Of(bytes)));
    await md5Thread.close();
  });

  test("fails the bodies in progress if it ends, and serves the next one", async () => {
    const md5Thread = new Md5Thread();
    const fixture = await openContentFixture({ md5Thread });
    const bytes = pattern(mebibyte, 1);
    const receive = (body: AsyncIterable<Uint8Array>) =>
      fixture.receive(body, { length: bytes.length, md5: true });
    const interrupted = async function* () {
      yield bytes.subarray(0, mebibyte / 2);
      await md5Thread.close();
      yield bytes.subarray(mebibyte / 2);
    };
    await expect(receive(interrupted())).rejects.toThrow("the MD5 thread has ended");
    const received = await receive(oneChunk(bytes));
    expect(hex(received.md5 ?? [])).toBe(hex(md5Of(bytes)));
    await fixture.content.close();
  });
});

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function hex(bytes: ArrayLike<number>): string {
  return Buffer.from(bytes as Uint8Array).toString("hex");
}
