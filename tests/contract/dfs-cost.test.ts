import { beforeEach, describe, expect, it } from "vitest";
import { blobs, blocks, uploads } from "../../src/blob/records.ts";
import { reclaimJobs } from "../../src/operation/reclaim-jobs.ts";
import type { Table } from "../../src/encoding/table.ts";
import type { Store, Transaction } from "../../src/store/store.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

const dayMilliseconds = 24 * 3600 * 1000;

/** Entries that the transaction of a request reads and writes. */
const touched = { reads: 0, writes: 0 };

const counted = {
  get: "reads",
  peek: "reads",
  range: "reads",
  readHead: "reads",
  put: "writes",
  delete: "writes",
  add: "writes",
} as const;

function counting(tx: Transaction): Transaction {
  return new Proxy(tx, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const kind = counted[name as keyof typeof counted];
      if (kind !== undefined) touched[kind] += 1;
      return value.bind(target) as unknown;
    },
  });
}

function countingStore(real: Store): Store {
  return {
    // Only the last attempt counts: an engine may run the work again with other keys prefetched.
    transact: (work, options) =>
      real.transact((tx) => {
        Object.assign(touched, { reads: 0, writes: 0 });
        return work(counting(tx));
      }, options),
    snapshot: (work, options) => real.snapshot(work, options),
    watch: (prefix, onChange) => real.watch(prefix, onChange),
    raiseSequence: (to) => real.raiseSequence(to),
    close: () => real.close(),
  };
}

let sim: SimBlob;

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true }, { store: countingStore });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

async function send(method: string, path: string, headers = {}, body = ""): Promise<number> {
  const { status } = await sim.sendToDfs({ method, path: `/fff/${path}`, headers, body });
  return status;
}

/** What one request touches. */
async function costOf(
  request: () => Promise<number>,
): Promise<typeof touched & { status: number }> {
  const status = await request();
  return { ...touched, status };
}

async function countOf(table: Table<never, object>): Promise<number> {
  return sim.store.snapshot(async (view) => {
    let count = 0;
    for await (const entries of view.range(table.range([]))) count += entries.length;
    return count;
  });
}

const count = (table: object) => countOf(table as Table<never, object>);

/** As records: requests would take seconds. */
async function fillDirectory(path: string, files: number): Promise<void> {
  await send("PUT", `${path}/sub/0?resource=file`);
  await sim.store.transact(async (tx) => {
    for await (const entries of tx.range(blobs.range([]))) {
      for (const { key, value } of entries) {
        const [container, name] = blobs.parts(key) as [bigint, string];
        if (name !== "0") continue;
        for (let at = 1; at < files; at += 1) {
          tx.put(blobs.key({ container, name: String(at) }), value);
        }
      }
    }
  });
}

describe("the cost of a request", () => {
  it("that renames or deletes a directory does not depend on what is below it", async () => {
    const costs: unknown[] = [];
    for (const files of [10, 10_000]) {
      await fillDirectory("from", files);
      const headers = { "x-ms-rename-source": "/fff/from" };
      const renamed = await costOf(() => send("PUT", "to?mode=legacy", headers));
      expect(await send("HEAD", `to/sub/${files - 1}`)).toBe(200);
      expect(await send("HEAD", "from/sub/0")).toBe(404);
      const deleted = await costOf(() => send("DELETE", "to?recursive=true"));
      expect(await send("HEAD", "to/sub/0")).toBe(404);
      expect([renamed.status, deleted.status]).toEqual([201, 200]);
      costs.push({ renamed, deleted });
      await sim.reclaim();
      expect(await count(blobs)).toBe(1);
    }
    expect(costs[1]).toEqual(costs[0]);
  });

  it("that appends or flushes 1 KiB is two writes, and leaves nothing to remove", async () => {
    await send("PUT", "dir/file?resource=file");
    const body = "x".repeat(1024);
    const append = "dir/file?action=append&position=0";
    const appended = await costOf(() => send("PATCH", append, {}, body));
    expect([appended.status, appended.writes]).toEqual([202, 2]);
    expect(await count(blocks)).toBe(0);
    const flushed = await costOf(() => send("PATCH", "dir/file?action=flush&position=1024"));
    expect([flushed.status, flushed.writes]).toEqual([200, 2]);
    expect(await count(uploads)).toBe(0);
    const jobs = await count(reclaimJobs);
    for (let at = 0; at < 5; at += 1) {
      await send("PUT", `dir/file${at}?resource=file`);
      await send("PATCH", `dir/file${at}?action=append&position=0`, {}, body);
      await send("PATCH", `dir/file${at}?action=flush&position=1024`);
    }
    expect(await count(reclaimJobs)).toBe(jobs);
  });
});

describe("appended data", () => {
  it("is the same whether it is small or large, in any mixture", async () => {
    const lengths = [10, 5000, 1, 4096, 4096, 20, 300_000, ...Array.from({ length: 30 }, () => 7)];
    await send("PUT", "file?resource=file");
    let whole = "";
    for (const [at, length] of lengths.entries()) {
      const data = String.fromCharCode(97 + (at % 26)).repeat(length);
      const path = `file?action=append&position=${whole.length}`;
      expect(await send("PATCH", path, {}, data)).toBe(202);
      whole += data;
    }
    const half = lengths.slice(0, 7).reduce((sum, length) => sum + length, 0);
    const retain = `file?action=flush&position=${half}&retainUncommittedData=true`;
    expect(await send("PATCH", retain)).toBe(200);
    const read = async () => (await sim.sendToDfs({ method: "GET", path: "/fff/file" })).body;
    expect(await read()).toBe(whole.slice(0, half));
    expect(await send("PATCH", `file?action=flush&position=${whole.length}`)).toBe(200);
    expect(await read()).toBe(whole);
    await sim.reclaim();
    expect([await count(uploads), await count(blocks)]).toEqual([0, 0]);
  });

  it("is removed a week after the last append, wherever it is stored", async () => {
    const small = "x".repeat(100);
    const large = "x".repeat(10_000);
    const sizes = [[small], [large], [small, large], [large, small]];
    const appendAll = async (position: number) => {
      for (const [at, parts] of sizes.entries()) {
        for (const part of parts) {
          const path = `f${at}?action=append&position=${position}`;
          expect(await send("PATCH", path, {}, part)).toBe(202);
        }
      }
    };
    for (const at of sizes.keys()) await send("PUT", `f${at}?resource=file`);
    await appendAll(0);
    sim.clock.advance(5 * dayMilliseconds);
    await sim.reclaim();
    expect(await count(uploads)).toBe(4);
    await appendAll(1);
    sim.clock.advance(3 * dayMilliseconds);
    await sim.reclaim();
    expect(await count(uploads)).toBe(4);
    sim.clock.advance(5 * dayMilliseconds);
    await sim.reclaim();
    expect([await count(uploads), await count(blocks)]).toEqual([0, 0]);
    expect(await count(reclaimJobs)).toBe(0);
  });
});
