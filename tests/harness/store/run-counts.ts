import { describe, expect, it } from "vitest";

import { StoreBusy } from "../../../src/store/store.ts";
import type { Store, Transaction, View } from "../../../src/store/store.ts";
import { gate, opener, racers, times } from "./harness.ts";
import { below, bytes, increment, k, put, read, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

/** Which conflicts cause a retry, and which do not. */
export function describeRunCounts(newStore: NewStore): void {
  const open = opener(newStore);

  describe("validation", () => {
    it("retries when a key that was read has changed", async () => {
      const { store } = await open();
      await put(store, k("a"), "1");
      const runs = await runsUntilCommitted({ store, change: (s) => put(s, k("a"), "2") }, (tx) =>
        tx.get(k("a")),
      );
      expect(runs).toBe(2);
    });

    it("retries when a key that was read as absent was created", async () => {
      const { store } = await open();
      const runs = await runsUntilCommitted({ store, change: (s) => put(s, k("a"), "2") }, (tx) =>
        tx.get(k("a")),
      );
      expect(runs).toBe(2);
    });

    it("retries when an entry of a range that was read was added, deleted or changed", async () => {
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
          const readAll = (tx: View): Promise<unknown> => values(tx, { ...below("r"), reverse });
          expect(await runsUntilCommitted({ store, change }, readAll)).toBe(2);
        }
      }
    });

    it("ignores changes beyond the part of a range that was read", async () => {
      const { store } = await open();
      for (const index of [1, 2, 3, 4]) await put(store, k("r", index), String(index));
      const change = (s: Store): Promise<void> => put(s, k("r", 3), "other");
      const first = (tx: View): Promise<unknown> => values(tx, { ...below("r"), limit: 2 });
      expect(await runsUntilCommitted({ store, change }, first)).toBe(1);
      const last = (tx: View): Promise<unknown> =>
        values(tx, { ...below("r"), limit: 1, reverse: true });
      expect(await runsUntilCommitted({ store, change }, last)).toBe(1);
    });

    it("ignores changes of other keys and of keys read with peek", async () => {
      const { store } = await open();
      const change = (s: Store): Promise<void> => put(s, k("a"), "2");
      expect(await runsUntilCommitted({ store, change }, (tx) => tx.get(k("z")))).toBe(1);
      expect(await runsUntilCommitted({ store, change }, (tx) => tx.peek(k("a")))).toBe(1);
    });

    it("does not validate work without writes", async () => {
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
    it("serves concurrent transactions in the order of arrival", async () => {
      const { store } = await open();
      await put(store, k("hot"), "0");
      const seen = await times(racers, () => store.transact((tx) => increment(tx, k("hot"))));
      expect(seen).toEqual(seen.toSorted((left, right) => left - right));
    });

    it("needs at most 4 attempts per transaction on a hot key", async () => {
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

    it("rejects with StoreBusy after the allowed attempts", async () => {
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

    it("does not retry for concurrent additions to a counter", async () => {
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

    it("validates a counter read with get, not one read with peek", async () => {
      const { store } = await open();
      const runsWith = async (method: "get" | "peek"): Promise<number> => {
        let runs = 0;
        const [hasRead, mayEnd] = [gate(), gate()];
        const running = store.transact(async (tx) => {
          runs += 1;
          await tx[method](k("count"));
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

/** Number of attempts of work that reads with `readKeys` when `change` commits before it ends. */
async function runsUntilCommitted(
  { store, change }: { store: Store; change: (store: Store) => Promise<void> },
  readKeys: (tx: Transaction) => unknown,
): Promise<number> {
  let runs = 0;
  const hasRead = gate();
  const mayEnd = gate();
  const running = store.transact(async (tx) => {
    runs += 1;
    await readKeys(tx);
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
