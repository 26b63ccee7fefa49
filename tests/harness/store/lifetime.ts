import { describe, expect, it } from "vitest";

import { ticksPerMillisecond } from "../../../src/base/ticks.ts";
import type { Ticks } from "../../../src/base/ticks.ts";
import { StoreClosed, type Store } from "../../../src/store/store.ts";
import { opener } from "./harness.ts";
import { bytes, below, increment, k, put, read, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

/** Store time, and what happens after a view or a store was closed. */
export function describeLifetime(newStore: NewStore): void {
  const open = opener(newStore);

  describe("time", () => {
    it("increases with every view, also when the clock does not advance", async () => {
      const { store } = await open();
      const seen: Ticks[] = [];
      for (let round = 0; round < 20; round += 1) seen.push(await nowOf(store));
      expect(isIncreasing(seen)).toBe(true);
    });

    it("does not follow jumps of the wall clock", async () => {
      const { store, clock } = await open();
      const before = await nowOf(store);
      // A database's clock does not advance with this one: after a second its store would notice.
      clock.jumpWall(3_600_000);
      clock.advance(400);
      expect(await nowOf(store)).toBe(before + 400n * ticksPerMillisecond);
      clock.jumpWall(-7_200_000);
      clock.advance(400);
      expect(await nowOf(store)).toBe(before + 800n * ticksPerMillisecond);
    });

    it("gives every attempt of a transaction a time of its own", async () => {
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
    it("closes a view that exceeds the age limit", async () => {
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

    it("keeps a view without an age limit, and its state", async () => {
      const { store, clock } = await open({ snapshotAgeMax: 500n * ticksPerMillisecond });
      await put(store, k("a"), "1");
      await store.snapshot(
        async (view) => {
          await put(store, k("a"), "2");
          await put(store, k("b"), "2");
          clock.advance(100_000);
          expect(await values(view, below())).toEqual(["1"]);
        },
        { isUnlimited: true },
      );
      expect(await read(store, k("a"))).toBe("2");
    });

    it("calls watchers after commits under their prefix, until they are removed", async () => {
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

    it("commits transactions submitted before it closes, and rejects later ones", async () => {
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

    it("rejects a transaction whose work continues after the store was closed", async () => {
      const { store } = await open();
      const working = newSignal();
      const closed = newSignal();
      const late = store.transact(async (tx) => {
        working.fire();
        await closed.fired;
        tx.put(k("b"), bytes("1"));
      });
      await working.fired;
      await store.close();
      closed.fire();
      await expect(late).rejects.toThrow(StoreClosed);
    });
  });
}

function newSignal() {
  let fire = (): void => {};
  const fired = new Promise<void>((resolve) => {
    fire = resolve;
  });
  return { fire: () => fire(), fired };
}

const nowOf = (store: Store): Promise<Ticks> => store.snapshot(async (view) => view.now);

function isIncreasing(times: readonly Ticks[]): boolean {
  return times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0n));
}
