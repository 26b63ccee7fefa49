import { describe, expect, it } from "vitest";

import { decodeCounter } from "../../../src/store/store.ts";
import { opener } from "./harness.ts";
import { below, bytes, k, put } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

/** Counters, whose additions never conflict. */
export function describeCounters(newStore: NewStore): void {
  const open = opener(newStore);

  describe("counters", () => {
    it("adds up concurrent additions without a conflict", async () => {
      const { store } = await open();
      await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          store.transact(async (tx) => {
            tx.add(k("count"), BigInt(index) - 10n);
            tx.put(k("other", index), bytes("x"));
          }),
        ),
      );
      const count = await store.snapshot((view) => view.get(k("count")));
      expect(decodeCounter(count)).toBe(64n * 31n + 32n - 640n);
    });

    it("includes a transaction's own additions in its reads", async () => {
      const { store } = await open();
      await store.transact(async (tx) => tx.add(k("count"), 5n));
      await store.transact(async (tx) => {
        tx.add(k("count"), 2n);
        tx.add(k("count"), -10n);
        expect(decodeCounter(await tx.get(k("count")))).toBe(-3n);
        expect(decodeCounter(await tx.peek(k("count")))).toBe(-3n);
        for await (const entries of tx.range(below("count"))) {
          expect(entries.map(({ value }) => decodeCounter(value))).toEqual([-3n]);
        }
        tx.delete(k("count"));
        tx.add(k("count"), 1n);
        expect(decodeCounter(await tx.get(k("count")))).toBe(1n);
      });
      expect(decodeCounter(await store.snapshot((view) => view.get(k("count"))))).toBe(1n);
    });

    it("reads the sum inside a batch", async () => {
      const { store } = await open();
      await put(store, k("limit"), "x");
      const taken = await Promise.all(
        Array.from({ length: 20 }, () =>
          store.transact(async (tx) => {
            if (decodeCounter(await tx.get(k("count"))) >= 7n) return 0;
            tx.add(k("count"), 1n);
            return 1;
          }),
        ),
      );
      expect(taken.reduce<number>((left, right) => left + right, 0)).toBe(7);
    });
  });
}
