import { describe, expect, it } from "vitest";

import { gate, opener, racers, times } from "./harness.ts";
import { below, bytes, increment, k, put, read, text, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

/** Longer than any engine lets work run under its lock. */
const patienceMilliseconds = 30_000;

export function describeContention(newStore: NewStore): void {
  const open = opener(newStore);

  describe("contention", () => {
    it("loses no update when many race for one key", async () => {
      const { store } = await open();
      const seen = await times(racers, () => store.transact((tx) => increment(tx, k("hot"))));
      expect(await read(store, k("hot"))).toBe(String(racers));
      expect(new Set(seen).size).toBe(racers);
    });

    it("gives each of many takers another head of a range", async () => {
      const { store } = await open();
      await store.transact(async (tx) => {
        for (let index = 0; index < racers; index += 1) tx.put(k("q", index), bytes(`${index}`));
      });
      const taken = await times(racers, () =>
        store.transact(async (tx) => {
          for await (const [first] of tx.range({ ...below("q"), limit: 1 })) {
            if (first === undefined) continue;
            tx.delete(first.key);
            return text(first.value);
          }
          return undefined;
        }),
      );
      expect(new Set(taken).size).toBe(racers);
      expect(await store.snapshot((view) => values(view, below("q")))).toEqual([]);
    });

    it("moves money between keys without making or losing any", async () => {
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

    it("does not wait for ever for work that waits for another transaction", async () => {
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
      const refused = expect(stuck).rejects.toThrow("waits for more than the store");
      await hasRead.passed;
      await put(store, k("a"), "1");
      mayEnd.open();
      await isStuck.passed;
      clock.advance(patienceMilliseconds);
      await refused;
      await put(store, k("a"), "2");
      expect(await read(store, k("b"))).toBeUndefined();
      expect(runs).toBeGreaterThan(1);
    });

    it("answers a loser that then only reads, and one that then throws", async () => {
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
