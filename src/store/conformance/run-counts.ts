import { describe, expect, it } from "vitest";

import { StoreBusy } from "../store.ts";
import type { Store, Transaction, View } from "../store.ts";
import { gate, opener, racers, times } from "./harness.ts";
import { below, bytes, increment, k, put, read, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

/** Which conflicts make work run again, and which do not. */
export function describeRunCounts(newStore: NewStore): void {
  const open = opener(newStore);

  describe("validation", () => {
    it("runs again when a key that was read has changed", async () => {
      const { store } = await open();
      await put(store, k("a"), "1");
      const runs = await runsUntilCommitted({ store, change: (s) => put(s, k("a"), "2") }, (tx) =>
        tx.get(k("a")),
      );
      expect(runs).toBe(2);
    });

    it("runs again when a key that was missed has appeared", async () => {
      const { store } = await open();
      const runs = await runsUntilCommitted({ store, change: (s) => put(s, k("a"), "2") }, (tx) =>
        tx.get(k("a")),
      );
      expect(runs).toBe(2);
    });

    it("runs again when a range that was read has a phantom, lost one, or changed", async () => {
      const changes = [
        (s: Store): Promise<void> => put(s, k("r", 2), "phantom"),
        (s: Store): Promise<void> => s.transact(async (tx) => tx.delete(k("r", 1))),
        (s: Store): Promise<void> => put(s, k("r", 3), "other"),
      ];
      for (const change of changes) {
        for (const reverse of [false, true]) {
          const { store } = await open();
          await put(store, k("r", 1), "1");
          await put(store, k("r", 3), "3");
          const look = (tx: View): Promise<unknown> => values(tx, { ...below("r"), reverse });
          expect(await runsUntilCommitted({ store, change }, look)).toBe(2);
        }
      }
    });

    it("does not mind changes beyond the part of a range that was read", async () => {
      const { store } = await open();
      for (const index of [1, 2, 3, 4]) await put(store, k("r", index), String(index));
      const change = (s: Store): Promise<void> => put(s, k("r", 3), "other");
      const first = (tx: View): Promise<unknown> => values(tx, { ...below("r"), limit: 2 });
      expect(await runsUntilCommitted({ store, change }, first)).toBe(1);
      const last = (tx: View): Promise<unknown> =>
        values(tx, { ...below("r"), limit: 1, reverse: true });
      expect(await runsUntilCommitted({ store, change }, last)).toBe(1);
    });

    it("does not mind changes elsewhere, nor what was only peeked at", async () => {
      const { store } = await open();
      const change = (s: Store): Promise<void> => put(s, k("a"), "2");
      expect(await runsUntilCommitted({ store, change }, (tx) => tx.get(k("z")))).toBe(1);
      expect(await runsUntilCommitted({ store, change }, (tx) => tx.peek(k("a")))).toBe(1);
    });

    it("validates nothing of work that writes nothing", async () => {
      const { store } = await open();
      let runs = 0;
      await store.transact(async (tx) => {
        runs += 1;
        await tx.get(k("a"));
        await put(store, k("a"), "1");
      });
      expect(runs).toBe(1);
    });
  });

  describe("fairness", () => {
    it("serves those who race in the order in which they came", async () => {
      const { store } = await open();
      await put(store, k("hot"), "0");
      const seen = await times(racers, () => store.transact((tx) => increment(tx, k("hot"))));
      expect(seen).toEqual(seen.toSorted((left, right) => left - right));
    });

    it("keeps each racer's runs few", async () => {
      const { store } = await open();
      const runs = await times(racers, async () => {
        let count = 0;
        await store.transact(async (tx) => {
          count += 1;
          await increment(tx, k("hot"));
        });
        return count;
      });
      expect(Math.max(...runs)).toBeLessThanOrEqual(4);
    });

    it("gives up after the attempts that were allowed", async () => {
      const { store } = await open();
      let runs = 0;
      const unlucky = store.transact(
        async (tx) => {
          runs += 1;
          await tx.get(k("a"));
          if (runs === 1) await put(store, k("a"), String(runs));
          tx.put(k("b"), bytes("never"));
        },
        { attemptsMax: 1 },
      );
      await expect(unlucky).rejects.toThrow(StoreBusy);
      expect(runs).toBe(1);
      expect(await read(store, k("b"))).toBeUndefined();
    });

    it("does not run again for counters that others add to", async () => {
      const { store } = await open();
      let runs = 0;
      await times(racers, () =>
        store.transact(async (tx) => {
          runs += 1;
          tx.add(k("count"), 1n);
        }),
      );
      expect(runs).toBe(racers);
    });

    it("validates a counter that was read with get, not one that was peeked at", async () => {
      const { store } = await open();
      const runsWith = async (look: "get" | "peek"): Promise<number> => {
        let runs = 0;
        const [hasRead, mayEnd] = [gate(), gate()];
        const running = store.transact(async (tx) => {
          runs += 1;
          await tx[look](k("count"));
          tx.put(k("seen"), bytes("x"));
          hasRead.open();
          await mayEnd.passed;
        });
        await hasRead.passed;
        await store.transact(async (tx) => tx.add(k("count"), 1n));
        mayEnd.open();
        await running;
        return runs;
      };
      expect(await runsWith("get")).toBe(2);
      expect(await runsWith("peek")).toBe(1);
    });
  });
}

/** How often work that reads with `look` runs when `change` commits before it ends. */
async function runsUntilCommitted(
  { store, change }: { store: Store; change: (store: Store) => Promise<void> },
  look: (tx: Transaction) => unknown,
): Promise<number> {
  let runs = 0;
  const hasRead = gate();
  const mayEnd = gate();
  const running = store.transact(async (tx) => {
    runs += 1;
    await look(tx);
    tx.put(k("result"), bytes(String(runs)));
    hasRead.open();
    await mayEnd.passed;
  });
  await hasRead.passed;
  await change(store);
  mayEnd.open();
  await running;
  return runs;
}
