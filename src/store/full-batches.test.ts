import { describe, expect, it } from "vitest";
import { k, put } from "../../tests/harness/store/store-steps.ts";
import type { Engine, EngineBatch } from "./engine.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { memoryEngine } from "./memory/open-memory-store.ts";
import { StoreFull } from "./store.ts";
import { TransactionalStore } from "./transactional-store.ts";

/** An engine without free space: it accepts at most `writesMax` writes per batch, and only batches
 *  that may use the reserve. */
function fullEngine(writesMax: number, log: number[]): Engine {
  const inner = memoryEngine();
  const admit = (batch: EngineBatch | undefined): EngineBatch | undefined => {
    if (batch === undefined) return undefined;
    log.push(batch.writes.length);
    const isAllowed = batch.mayUseReserve === true && batch.writes.length <= writesMax;
    if (!isAllowed) throw new StoreFull("no space");
    return batch;
  };
  return {
    open: () => inner.open(),
    commit: (decide) => inner.commit((current) => admit(decide(current))),
    close: () => inner.close(),
  };
}

describe("a batch without enough disk space", () => {
  it("is committed in smaller batches", async () => {
    const sizes: number[] = [];
    const engine = fullEngine(4, sizes);
    const store = new TransactionalStore({ engine, clock: manualClock() });
    const indexes = Array.from({ length: 100 }, (_, index) => index);
    const freeing = { mayUseReserve: true };
    await Promise.all(
      indexes.map((index) =>
        store.transact(async (tx) => tx.put(k("a", index), new Uint8Array(1)), freeing),
      ),
    );
    expect(Math.max(...sizes)).toBe(100);
    await store.close();
  });

  it("fails only the transactions that may not use the reserve", async () => {
    const engine = fullEngine(100, []);
    const store = new TransactionalStore({ engine, clock: manualClock() });
    const ordinary = Array.from({ length: 5 }, (_, index) => put(store, k("b", index), "grows"));
    const freeing = Array.from({ length: 5 }, (_, index) =>
      store.transact(async (tx) => tx.delete(k("c", index)), { mayUseReserve: true }),
    );
    const refused = await Promise.allSettled(ordinary);
    const freed = await Promise.allSettled(freeing);
    expect(freed.map(({ status }) => status)).toEqual(Array(5).fill("fulfilled"));
    for (const each of refused) {
      expect(each.status === "rejected" && each.reason).toBeInstanceOf(StoreFull);
    }
    await store.close();
  });
});
