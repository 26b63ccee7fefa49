import { describe, expect, it } from "vitest";
import { increment, k, put, read } from "../../tests/harness/store/store-steps.ts";
import type { Engine } from "./engine.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { memoryEngine } from "./memory/open-memory-store.ts";
import { TransactionalStore } from "./transactional-store.ts";

/** An engine that counts the calls. */
function countingEngine() {
  const inner = memoryEngine();
  const calls = { open: 0, commit: 0 };
  const engine: Engine = {
    open() {
      calls.open += 1;
      return inner.open();
    },
    commit(decide) {
      calls.commit += 1;
      return inner.commit(decide);
    },
    close: () => inner.close(),
  };
  return { engine, calls };
}

function storeOf(engine: Engine, owner = 1): TransactionalStore {
  return new TransactionalStore({ engine, clock: manualClock(), owner });
}

describe("a transaction that runs while no other one does", () => {
  it("opens one view", async () => {
    const { engine, calls } = countingEngine();
    const store = storeOf(engine);
    await put(store, k("a"), "1");
    expect(calls).toEqual({ open: 1, commit: 1 });
    await store.close();
  });

  it("runs again if another process has changed what it read", async () => {
    const engine = memoryEngine();
    const [store, other] = [storeOf(engine), storeOf(engine, 2)];
    let runs = 0;
    await store.transact(async (tx) => {
      runs += 1;
      await increment(tx, k("a"));
      if (runs === 1) await put(other, k("a"), "5");
    });
    expect(runs).toBe(2);
    expect(await read(store, k("a"))).toBe("6");
    await Promise.all([store.close(), other.close()]);
  });

  it("runs again if an earlier one of its process has changed what it read", async () => {
    const store = storeOf(memoryEngine());
    let runs = 0;
    await store.transact(async (tx) => {
      runs += 1;
      await increment(tx, k("a"));
      if (runs === 1) await put(store, k("a"), "5");
    });
    expect(runs).toBe(2);
    expect(await read(store, k("a"))).toBe("6");
    await store.close();
  });

  it("lets a process with commit priority commit first, for a bounded time", async () => {
    const { engine, calls } = countingEngine();
    const store = storeOf(engine);
    await engine.commit(({ sequence, ticks }) => ({
      sequence,
      ticks,
      priorityOwner: 2,
      writes: [],
    }));
    calls.commit = 0;
    await put(store, k("a"), "1");
    expect(await read(store, k("a"))).toBe("1");
    // The first commit finds the priority, the second one ignores it after the polls.
    expect(calls.commit).toBe(2);
    expect(calls.open).toBeGreaterThan(1000);
    await store.close();
  });
});
