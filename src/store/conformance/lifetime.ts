import { describe, expect, it } from "vitest";

import { ticksPerMillisecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import { StoreClosed, type Store } from "../store.ts";
import { opener } from "./harness.ts";
import { bytes, below, increment, k, put, read, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

export function describeLifetime(newStore: NewStore): void {
  const open = opener(newStore);

  describe("time", () => {
    it("grows with every view, also when the clock stands still", async () => {
      const { store } = await open();
      const seen: Ticks[] = [];
      for (let round = 0; round < 20; round += 1) seen.push(await nowOf(store));
      expect(isIncreasing(seen)).toBe(true);
    });

    it("does not follow the wall clock when that jumps", async () => {
      const { store, clock } = await open();
      const before = await nowOf(store);
      clock.jumpWall(3_600_000);
      clock.advance(1000);
      expect(await nowOf(store)).toBe(before + 1000n * ticksPerMillisecond);
      clock.jumpWall(-7_200_000);
      clock.advance(1000);
      expect(await nowOf(store)).toBe(before + 2000n * ticksPerMillisecond);
    });

    it("gives every run of a transaction a moment of its own", async () => {
      const { store } = await open();
      const seen: Ticks[] = [];
      await Promise.all(
        Array.from({ length: 30 }, () =>
          store.transact(async (tx) => {
            seen.push(tx.now);
            await increment(tx, k("hot"));
          }),
        ),
      );
      expect(isIncreasing(seen)).toBe(true);
      expect(seen.length).toBeGreaterThan(30);
    });
  });

  describe("lifetime", () => {
    it("ends a view that is kept for too long", async () => {
      const { store, clock } = await open({ snapshotAgeMax: 500n * ticksPerMillisecond });
      await put(store, k("a"), "1");
      await store.snapshot(async (view) => {
        clock.advance(499);
        await view.get(k("a"));
        clock.advance(2);
        await expect(view.get(k("a"))).rejects.toThrow("kept for more than 500 ms");
        await expect(values(view, below())).rejects.toThrow("kept for more than 500 ms");
      });
      expect(await read(store, k("a"))).toBe("1");
    });

    it("tells watchers of commits under their prefix and stops when told", async () => {
      const { store } = await open();
      let calls = 0;
      const unwatch = store.watch(k("w"), () => {
        calls += 1;
      });
      await put(store, k("other"), "1");
      expect(calls).toBe(0);
      await put(store, k("w", 1), "1");
      expect(calls).toBe(1);
      await store.transact(async (tx) => tx.delete(k("w", 1)));
      expect(calls).toBe(2);
      unwatch();
      await put(store, k("w", 1), "2");
      expect(calls).toBe(2);
    });

    it("commits what was handed over before it closes, and refuses what comes after", async () => {
      const { store } = await open();
      const writing = Array.from({ length: 20 }, (_, index) => put(store, k("a", index), "1"));
      await Promise.all(writing.slice(0, 1));
      const outcomes = Promise.allSettled(writing);
      await store.close();
      for (const { status } of await outcomes) expect(status).toBe("fulfilled");
      await expect(read(store, k("a"))).rejects.toThrow("closed");
      const late = store.transact(async (tx) => tx.put(k("b"), bytes("1")));
      await expect(late).rejects.toThrow("closed");
      await store.close();
    });

    it("refuses work that goes on after it was closed, as what comes after", async () => {
      const { store } = await open();
      const working = newBell();
      const closed = newBell();
      const late = store.transact(async (tx) => {
        working.ring();
        await closed.rung;
        tx.put(k("b"), bytes("1"));
      });
      await working.rung;
      await store.close();
      closed.ring();
      await expect(late).rejects.toThrow(StoreClosed);
    });
  });
}

function newBell() {
  let ring = (): void => {};
  const rung = new Promise<void>((resolve) => {
    ring = resolve;
  });
  return { ring: () => ring(), rung };
}

const nowOf = (store: Store): Promise<Ticks> => store.snapshot(async (view) => view.now);

function isIncreasing(moments: readonly Ticks[]): boolean {
  return moments.every((moment, index) => index === 0 || moment > (moments[index - 1] ?? 0n));
}
