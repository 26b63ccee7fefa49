import { describe, expect, test } from "vitest";
import { md5Of } from "./checksums.ts";
import { Md5Thread } from "./md5-thread.ts";
import { openContentFixture, pattern } from "./testing.ts";

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

  test("has read the bytes when an update resolves", async () => {
    const thread = new Md5Thread();
    const buffer = thread.acquire();
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

  test("gives a released buffer to the next body", () => {
    const thread = new Md5Thread();
    const buffer = thread.acquire();
    expect(thread.acquire() === buffer).toBe(false);
    thread.release(buffer);
    expect(thread.acquire() === buffer).toBe(true);
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
