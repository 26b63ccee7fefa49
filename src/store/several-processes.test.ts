import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Ticks } from "../base/ticks.ts";
import { times } from "../../tests/harness/store/harness.ts";
import {
  below,
  bytes,
  increment,
  k,
  put,
  read,
  text,
  values,
} from "../../tests/harness/store/store-steps.ts";
import { decodeCounter } from "./store.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { memoryEngine } from "./memory/open-memory-store.ts";
import type { Store } from "./store.ts";
import { TransactionalStore } from "./transactional-store.ts";

describe("three stores on one engine, as three processes have it open", () => {
  let stores: TransactionalStore[];
  let store: Store;

  beforeEach(() => {
    const [engine, clock] = [memoryEngine(), manualClock()];
    stores = [1, 2, 3].map((owner) => new TransactionalStore({ engine, clock, owner }));
    store = stores[0]!;
  });
  afterEach(() => Promise.all(stores.map((each) => each.close())));

  it("lose no update of a key that all of them change", async () => {
    const work = (each: Store): Promise<unknown> =>
      times(40, () => each.transact((tx) => increment(tx, k("hot"))));
    await Promise.all(stores.map(work));
    expect(await read(store, k("hot"))).toBe("120");
  });

  it("run transactions again that depend on one that conflicts", async () => {
    const work = (each: Store): Promise<unknown> =>
      times(20, async (index) => {
        await each.transact((tx) => increment(tx, k("hot")));
        await each.transact(async (tx) => {
          tx.put(k("seen", index), bytes(text(await tx.get(k("hot"))) ?? ""));
          await increment(tx, k("hot"));
        });
      });
    await Promise.all(stores.map(work));
    expect(await read(store, k("hot"))).toBe("120");
  });

  it("detect entries that another one adds to a range", async () => {
    const append = (each: Store, value: string): Promise<void> =>
      each.transact(async (tx) => {
        const { length } = await values(tx, below("list"));
        tx.put(k("list", String(length).padStart(3, "0")), bytes(value));
      });
    await Promise.all(
      stores.map((each, owner) => times(15, (index) => append(each, `${owner} ${index}`))),
    );
    const stored = await store.snapshot((view) => values(view, below("list")));
    expect(new Set(stored).size).toBe(45);
  });

  it("add to one counter", async () => {
    const add = (each: Store): Promise<void> => each.transact((tx) => tx.add(k("count"), 2n));
    await Promise.all(stores.map((each) => times(30, () => add(each))));
    const count = await store.snapshot((view) => view.get(k("count")));
    expect(decodeCounter(count)).toBe(180n);
  });

  it("give their transactions increasing times", async () => {
    const wrong: Ticks[] = [];
    const write = (each: Store): Promise<void> =>
      each.transact(async (tx) => {
        const before = BigInt(text(await tx.get(k("time"))) ?? "0");
        if (tx.now <= before) wrong.push(tx.now);
        tx.put(k("time"), bytes(String(tx.now)));
      });
    await Promise.all(stores.map((each) => times(30, () => write(each))));
    expect(wrong).toEqual([]);
  });

  it("show a commit to all before it is acknowledged", async () => {
    for (const [round, writer] of [...stores, ...stores].entries()) {
      await put(writer, k("round"), String(round));
      for (const reader of stores) expect(await read(reader, k("round"))).toBe(String(round));
    }
  });
});
