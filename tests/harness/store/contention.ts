import { describe, expect, it } from "vitest";

import { gate, opener, racers, times } from "./harness.ts";
import { below, bytes, increment, k, put, read, text, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

/** Longer than the timeout of any engine for an attempt inside a batch. */
const longerThanTimeoutMilliseconds = 30_000;

export function describeContention(newStore: NewStore): void {
  const open = opener(newStore);

  describe("contention", () => {
    it("loses no update when many transactions increment one key", async () => {
      const { store } = await open();
      const seen = await times(racers, () => store.transact((tx) => increment(tx, k("hot"))));
      expect(await read(store, k("hot"))).toBe(String(racers));
      expect(new Set(seen).size).toBe(racers);
    });

    it("gives each of many concurrent dequeues another entry", async () => {
      const { store } = await open();
      await store.transact(async (tx) => {
        for (let index = 0; index < racers; index += 1) tx.put(k("q", index), bytes(`${index}`));
      });
      const dequeued = await times(racers, () =>
        store.transact(async (tx) => {
          for await (const [first] of tx.range({ ...below("q"), limit: 1 })) {
            if (first === undefined) continue;
            tx.delete(first.key);
            return text(first.value);
          }
          return undefined;
        }),
      );
      expect(new Set(dequeued).size).toBe(racers);
      expect(await store.snapshot((view) => values(view, below("q")))).toEqual([]);
    });

    it("keeps the sum of amounts that are moved between keys", async () => {
      const { store } = await open();
      for (const index of [0, 1, 2]) await put(store, k("account", index), "100");
      await times(racers, (index) =>
        store.transact(async (tx) => {
          const [from, to] = [k("account", index % 3), k("account", (index * 2 + 1) % 3)];
          const amount = Number(text(await tx.get(from)));
          tx.put(from, bytes(String(amount - 1)));
          tx.put(to, bytes(String(Number(text(await tx.get(to))) + 1)));
        }),
      );
      const amounts = await store.snapshot((view) => values(view, below("account")));
      expect(amounts.map(Number).reduce((left, right) => left + right)).toBe(300);
    });

    it("times out work that awaits another transaction", async () => {
      const { store, clock } = await open();
      const [hasRead, mayEnd, isStuck] = [gate(), gate(), gate()];
      let runs = 0;
      const stuck = store.transact(async (tx) => {
        runs += 1;
        await tx.get(k("a"));
        tx.put(k("b"), bytes("never"));
        hasRead.open();
        await mayEnd.passed;
        if ((await tx.get(k("a"))) === undefined) return;
        isStuck.open();
        await put(store, k("c"), "inside");
      });
      const refused = expect(stuck).rejects.toThrow("it may await only the store");
      await hasRead.passed;
      await put(store, k("a"), "1");
      mayEnd.open();
      await isStuck.passed;
      clock.advance(longerThanTimeoutMilliseconds);
      await refused;
      await put(store, k("a"), "2");
      expect(await read(store, k("b"))).toBeUndefined();
      expect(runs).toBeGreaterThan(1);
    });

    it("returns the result of a retry that only reads, and of one that throws", async () => {
      const { store } = await open();
      const claim = (): Promise<string> =>
        store.transact(async (tx) => {
          if ((await tx.get(k("lease"))) !== undefined) throw new RangeError("taken");
          tx.put(k("lease"), bytes("mine"));
          return "won";
        });
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, claim));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });
  });
}
