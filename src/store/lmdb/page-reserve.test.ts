import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { afterAll, describe, expect, it } from "vitest";

import type { EngineBatch, EngineReader, EngineWrite } from "../engine.ts";
import { textOfKey } from "../../encoding/keys.ts";
import {
  countFreePages,
  demandOf,
  pageBytes,
  readMeta,
  removeSparseLockFile,
} from "./data-file.ts";
import { LmdbEngine } from "./lmdb-engine.ts";
import { inForm } from "../../../tests/harness/long-form.ts";

const folder = mkdtempSync(join(tmpdir(), "page-reserve-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A generator with the same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state % below;
  };
}

function writeOf(index: number, keyBytes: number, valueBytes: number | undefined): EngineWrite {
  const key = Buffer.alloc(keyBytes, 7);
  key.writeUInt32BE(index + 0x1000_0000);
  const value = valueBytes === undefined ? undefined : Buffer.alloc(valueBytes, index);
  return { key, text: textOfKey(key), value, revision: 1 };
}

const batchOf =
  (writes: readonly EngineWrite[]) =>
  ({ sequence, ticks }: EngineReader): EngineBatch => ({ sequence: sequence + 1, ticks, writes });

/** Puts with keys of two lengths, small values and values with overflow pages, and deletes. */
function randomWrites(below: (limit: number) => number, keysMax = 2000): EngineWrite[] {
  const count = 1 + below(below(4) === 0 ? 300 : 8);
  const writes = new Map<number, EngineWrite>();
  for (let index = 0; index < count; index += 1) {
    const key = below(keysMax);
    const valueBytes = [undefined, 20, 1000, 4000, 60_000][below(5)];
    writes.set(key, writeOf(key, key % 3 === 0 ? 3000 : 8, valueBytes));
  }
  return [...writes.values()];
}

describe("the demand of a commit", () => {
  it("is at least the number of pages used, with and without free pages", async () => {
    const path = join(folder, "demand.mdb");
    const engine = new LmdbEngine({ path, noSync: true });
    const descriptor = openSync(path, "r");
    const below = numbers(11);
    // While a view is open, no page freed since is reused.
    const view = engine.open();
    const rounds = inForm(100, 300);
    for (let round = 0; round < rounds; round += 1) {
      if (round === rounds / 2) view.close();
      const before = readMeta(descriptor);
      const writes = randomWrites(below, round % 2 === 0 ? 2000 : 1_000_000);
      await engine.commit(batchOf(writes));
      const taken = readMeta(descriptor).nextPage - before.nextPage;
      expect(demandOf(writes, before).pages).toBeGreaterThanOrEqual(taken);
    }
    closeSync(descriptor);
    await engine.close();
  });
});

describe("the count of free pages", () => {
  it("plus the pages in use equals the pages of the file", async () => {
    const path = join(folder, "free.mdb");
    const engine = new LmdbEngine({ path, noSync: true });
    const descriptor = openSync(path, "r");
    const below = numbers(5);
    const rounds = inForm(50, 120);
    for (let round = 0; round < rounds; round += 1)
      await engine.commit(batchOf(randomWrites(below)));
    const database = open(path, { noSubdir: true, pageSize: pageBytes, readOnly: true });
    const { free, root } = database.getStats() as Record<"free" | "root", Record<string, number>>;
    const own = (stats: Record<string, number>): number =>
      ["treeBranchPageCount", "treeLeafPageCount", "overflowPages"].reduce(
        (sum, name) => sum + (stats[name] ?? 0),
        0,
      );
    const meta = readMeta(descriptor);
    const metaPages = 2;
    const counted = countFreePages(descriptor, meta, Infinity);
    expect(counted).toBeGreaterThan(0);
    expect(metaPages + own(root) + own(free) + counted).toBe(meta.nextPage);
    expect(countFreePages(descriptor, meta, 0)).toBe(0);
    await database.close();
    closeSync(descriptor);
    await engine.close();
  });
});

describe("the files of an engine", () => {
  const isWhole = (path: string): boolean => statSync(path).blocks * 512 >= statSync(path).size;

  it("have the blocks that the next commits need", async () => {
    const path = join(folder, "ahead.mdb");
    const engine = new LmdbEngine({ path, noSync: false });
    await engine.commit(batchOf([writeOf(1, 8, 10)]));
    const reserveBytes = 512 * pageBytes;
    expect(statSync(path).size).toBeGreaterThan(reserveBytes);
    expect([isWhole(path), isWhole(`${path}-lock`)]).toEqual([true, true]);
    await engine.close();
  });

  it("get their blocks back where a copy has left holes", async () => {
    const path = join(folder, "holes.mdb");
    const first = new LmdbEngine({ path, noSync: false });
    await first.commit(batchOf([writeOf(1, 8, 10)]));
    await first.close();
    const { size } = statSync(path);
    truncateSync(path, 16 * pageBytes);
    truncateSync(path, size);
    truncateSync(`${path}-lock`, 0);
    truncateSync(`${path}-lock`, 100_000);
    expect([isWhole(path), isWhole(`${path}-lock`)]).toEqual([false, false]);
    removeSparseLockFile(path);
    const second = new LmdbEngine({ path, noSync: false });
    await second.commit(batchOf([writeOf(2, 8, 10)]));
    expect([isWhole(path), isWhole(`${path}-lock`)]).toEqual([true, true]);
    await second.close();
  });
});
