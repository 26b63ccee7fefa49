import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { encodeKey } from "../../src/encoding/keys.ts";
import { unixEpochTicks } from "../../src/base/ticks.ts";
import type { Clock } from "../../src/base/world.ts";
import { LmdbEngine } from "../../src/store/lmdb/lmdb-engine.ts";
import { memoryEngine } from "../../src/store/memory/open-memory-store.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";
import type { Store } from "../../src/store/store.ts";
import { setClockOffset, TransactionalStore } from "../../src/store/transactional-store.ts";
import { recordCodec } from "../../src/encoding/table.ts";

/** Durable read-modify-writes per second, latency of a point read, cost of a view.
 *  `npm run bench -- --store [FOLDER [postgres://…]]` */
const clock: Clock = {
  wall: () => unixEpochTicks + BigInt(Date.now()) * 10_000n,
  monotonic: () => process.hrtime.bigint() / 100n,
  bootId: "bench",
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
  nextIteration: (run) => void setImmediate(run),
};
const codec = recordCodec<{ count: number; name: string }>({ version: 1 });
const secondsEach = 2;
const keyCount = 10_000;
const keyOf = (index: number): Uint8Array => encodeKey([7n, `blob-${index}`]);

async function update(store: Store, key: Uint8Array): Promise<void> {
  await store.transact(async (tx) => {
    const found = await tx.get(key);
    const record = found === undefined ? { count: 0, name: "x".repeat(200) } : codec.decode(found);
    tx.put(key, codec.encode({ ...record, count: record.count + 1 }));
  });
}

async function updatesPerSecond(store: Store, callers: number, hot: boolean): Promise<number> {
  const until = performance.now() + 1000 * secondsEach;
  let done = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      await update(store, keyOf(hot ? 0 : Math.floor(Math.random() * keyCount)));
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return done / secondsEach;
}

async function microsecondsEach(count: number, run: () => unknown): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < count; index += 1) await run();
  return ((performance.now() - start) * 1000) / count;
}

async function measure(name: string, store: Store, views = 50_000): Promise<void> {
  for (const callers of [1, 16, 64, 256]) {
    const rate = await updatesPerSecond(store, callers, false);
    console.log(`${name} ${callers} callers: ${Math.round(rate)} updates/s`);
  }
  const hot = await updatesPerSecond(store, 64, true);
  console.log(`${name} 64 callers on one key: ${Math.round(hot)} updates/s`);
  const key = keyOf(1);
  const view = await microsecondsEach(views, () => store.snapshot(async () => undefined));
  const withRead = await microsecondsEach(views, () => store.snapshot((each) => each.get(key)));
  const reads = await store.snapshot((each) => microsecondsEach(2 * views, () => each.get(key)));
  console.log(`${name} view: ${view.toFixed(2)} µs; view and get: ${withRead.toFixed(2)} µs`);
  console.log(`${name} get inside a view: ${reads.toFixed(2)} µs`);
}

const folder = mkdtempSync(join(process.argv[2] ?? ".", "etagere-bench-store-"));
const stores = {
  memory: () => memoryEngine(),
  lmdb: () => new LmdbEngine({ path: join(folder, "store.mdb"), noSync: false }),
};
for (const [name, newEngine] of Object.entries(stores)) {
  const engine = newEngine();
  await setClockOffset(engine, clock, true);
  const store = new TransactionalStore({ engine, clock });
  await measure(name, store);
  await store.close();
}
rmSync(folder, { recursive: true });
const url = process.argv[3];
if (url !== undefined) {
  const log = silentLog;
  const store = await openPostgresStore({ url, node: `bench-${process.pid}`, clock, log });
  await measure("postgres", store, 2_000);
  await store.close();
}
