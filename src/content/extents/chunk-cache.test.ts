import { describe, expect, it } from "vitest";
import { ChunkCache, ChunkIds } from "./chunk-cache.ts";

const chunkBytes = 64 * 1024;
const whole = { from: 0, to: chunkBytes };
const ids = new ChunkIds(7n);
const idOf = (index: number) => ids.at(index * chunkBytes);

/** Reads a part of a chunk as `EncryptedChunks` does; returns whether it was in memory. */
function read(cache: ChunkCache, index: number, part = whole): boolean {
  const id = idOf(index);
  if (cache.get(id) !== undefined) {
    cache.endRead(id, part);
    return true;
  }
  cache.offer(id, new Uint8Array(chunkBytes), part);
  return false;
}

/** Reads chunks by short reads, as a download does; returns how many had to be decrypted. */
function readShort(cache: ChunkCache, first: number, end: number, bytes = 8 * 1024): number {
  let decrypted = 0;
  for (let at = first * chunkBytes; at < end * chunkBytes; at += bytes) {
    const from = at % chunkBytes;
    if (!read(cache, Math.floor(at / chunkBytes), { from, to: from + bytes })) decrypted += 1;
  }
  return decrypted;
}

function keptAmong(cache: ChunkCache, count: number): number[] {
  return Array.from({ length: count }, (_, index) => index).filter(
    (index) => cache.get(idOf(index)) !== undefined,
  );
}

describe("chunks in memory", () => {
  it("are those that were read twice", () => {
    const cache = new ChunkCache(100 * chunkBytes);
    expect([1, 1, 1].map((index) => read(cache, index))).toEqual([false, false, true]);
    expect(keptAmong(cache, 10)).toEqual([1]);
  });

  it("are those of which a part was read twice, also one in the middle", () => {
    const cache = new ChunkCache(100 * chunkBytes);
    const part = { from: 512, to: 1024 };
    const reads = [1, 2, 3].map(() => read(cache, 1, part));
    expect(reads).toEqual([false, false, true]);
  });

  it("do not change by a long download with short reads, which decrypts a chunk twice", () => {
    const cache = new ChunkCache(32 * chunkBytes);
    const hot = Array.from({ length: 20 }, (_, index) => index);
    for (const index of [...hot, ...hot]) read(cache, index);
    expect(readShort(cache, 100, 1100)).toBe(2 * 1000);
    expect(keptAmong(cache, 1200)).toEqual(hot);
  });

  it.each([3, 30])("do not change by %i downloads with short reads at once", (count) => {
    const cache = new ChunkCache(64 * chunkBytes);
    const starts = Array.from({ length: count }, (_, index) => index * 100);
    for (let at = 0; at < 200; at += 1) {
      for (const start of starts) {
        const bytes = chunkBytes / 8;
        const from = (at % 8) * bytes;
        read(cache, start + Math.floor(at / 8), { from, to: from + bytes });
      }
    }
    expect(keptAmong(cache, count * 100)).toEqual([]);
  });

  it("are those of a second download, also with short reads", () => {
    const cache = new ChunkCache(64 * chunkBytes);
    readShort(cache, 0, 10);
    readShort(cache, 0, 10);
    expect(keptAmong(cache, 20)).toEqual(Array.from({ length: 10 }, (_, index) => index));
    expect(readShort(cache, 0, 10)).toBe(0);
  });

  it("are few of those in which many downloads have stopped", () => {
    const cache = new ChunkCache(64 * chunkBytes);
    for (let index = 0; index < 100; index += 1) {
      for (const from of [0, 512]) read(cache, index, { from, to: from + 512 });
    }
    expect(keptAmong(cache, 100)).toEqual([93, 94, 95, 96, 97, 98, 99]);
  });

  it("are freed when they are evicted, offered once more or removed", () => {
    const cache = new ChunkCache(20 * chunkBytes);
    const chunks = Array.from({ length: 4 }, () => new Uint8Array(chunkBytes));
    for (const chunk of chunks.slice(0, 3)) cache.offer(idOf(1), chunk, whole);
    expect(chunks.map(({ length }) => length > 0)).toEqual([false, true, false, true]);
    cache.remove(idOf(1));
    expect(chunks[1]).toHaveLength(0);
    expect(cache.get(idOf(1))).toBeUndefined();
    const [, , , last] = chunks;
    for (const chunk of [new Uint8Array(chunkBytes), last!]) cache.offer(idOf(2), chunk, whole);
    expect(last).toHaveLength(chunkBytes);
    for (let index = 100; index < 120; index += 1) {
      for (let reads = 0; reads < 2; reads += 1) read(cache, index);
    }
    expect(last).toHaveLength(0);
  });
});
