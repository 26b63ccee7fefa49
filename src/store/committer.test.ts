import { describe, expect, it } from "vitest";
import { increment, k, put, read } from "../../tests/harness/store/store-steps.ts";
import type { Engine } from "./engine.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { memoryEngine } from "./memory/open-memory-store.ts";
import { TransactionalStore } from "./transactional-store.ts";

/** A store whose first commit waits for the write lock until `take` is called. */
function waitingStore() {
  const inner = memoryEngine();
  const commits: number[] = [];
  let take = (): void => undefined;
  const taken = new Promise<void>((resolve) => (take = resolve));
  let isWaiting = (): void => undefined;
  const waiting = new Promise<void>((resolve) => (isWaiting = resolve));
  const engine: Engine = {
    ...inner,
    commit: async (decide) => {
      isWaiting();
      await taken;
      await inner.commit(decide);
    },
  };
  const meter = {
    commit: ({ transactions }: { transactions: number }) => commits.push(transactions),
  };
  const store = new TransactionalStore({ engine, clock: manualClock(), meter });
  const other = new TransactionalStore({ engine: inner, clock: manualClock(), owner: 2 });
  return { store, other, commits, waiting, take: () => take() };
}

/** Lets the transactions of this moment run up to the commit queue. */
async function queued(): Promise<void> {
  for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("a batch that waits for the write lock", () => {
  it("takes in the transactions that are queued meanwhile", async () => {
    const { store, commits, waiting, take } = waitingStore();
    const first = put(store, k("a"), "1");
    await waiting;
    const later = [1, 2, 3].map((index) => put(store, k("b", index), "1"));
    await queued();
    take();
    await Promise.all([first, ...later]);
    expect(commits).toEqual([4]);
    await store.close();
  });

  it("leaves those that conflict with it to the next batch", async () => {
    const { store, commits, waiting, take } = waitingStore();
    const all = [store.transact((tx) => increment(tx, k("hot")))];
    await waiting;
    for (let count = 0; count < 3; count += 1) {
      all.push(store.transact((tx) => increment(tx, k("hot"))));
    }
    await queued();
    take();
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
    expect(commits).toEqual([1, 3]);
    await store.close();
  });

  it("leaves those to the next batch that have read what another process has changed", async () => {
    const { store, other, commits, waiting, take } = waitingStore();
    const first = put(store, k("a"), "1");
    await waiting;
    const later = store.transact((tx) => increment(tx, k("hot")));
    await queued();
    await put(other, k("hot"), "5");
    take();
    await Promise.all([first, later]);
    expect(commits).toEqual([1, 1]);
    expect(await read(store, k("hot"))).toBe("6");
    await Promise.all([store.close(), other.close()]);
  });
});
