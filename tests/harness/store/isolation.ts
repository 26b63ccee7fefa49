import { describe, expect, it } from "vitest";

import { opener } from "./harness.ts";
import { below, bytes, k, put, read, text, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

/** What transactions and snapshots see of each other. */
export function describeIsolation(newStore: NewStore): void {
  const open = opener(newStore);

  describe("isolation", () => {
    it("shows a snapshot the state it began with", async () => {
      const { store } = await open();
      await put(store, k("a"), "1");
      await put(store, k("c"), "1");
      await store.snapshot(async (view) => {
        await put(store, k("a"), "2");
        await put(store, k("b"), "2");
        await store.transact(async (tx) => tx.delete(k("c")));
        expect(text(await view.get(k("a")))).toBe("1");
        expect(await values(view, below())).toEqual(["1", "1"]);
      });
      expect(await store.snapshot((view) => values(view, below()))).toEqual(["2", "2"]);
    });

    it("shows every view the commits before it", async () => {
      const { store } = await open();
      let before = -1;
      for (let round = 0; round < 50; round += 1) {
        await put(store, k("a"), String(round));
        const sequence = await store.snapshot(async (view) => {
          expect(text(await view.get(k("a")))).toBe(String(round));
          return view.sequence;
        });
        expect(sequence).toBeGreaterThan(before);
        before = sequence;
      }
    });

    it("shows a transaction its own writes, in gets and in ranges", async () => {
      const { store } = await open();
      await put(store, k("r", 1), "one");
      await put(store, k("r", 3), "three");
      await put(store, k("r", 5), "five");
      await store.transact(async (tx) => {
        tx.put(k("r", 2), bytes("two"));
        tx.delete(k("r", 3));
        tx.put(k("r", 5), bytes("FIVE"));
        expect(text(await tx.get(k("r", 2)))).toBe("two");
        expect(await tx.get(k("r", 3))).toBeUndefined();
        expect(await values(tx, below("r"))).toEqual(["one", "two", "FIVE"]);
        expect(await values(tx, { ...below("r"), reverse: true })).toEqual(["FIVE", "two", "one"]);
        expect(await values(tx, { ...below("r"), limit: 2 })).toEqual(["one", "two"]);
      });
      expect(await store.snapshot((view) => values(view, below("r")))).toHaveLength(3);
    });

    it("changes nothing when the work throws, and rethrows the error", async () => {
      const { store } = await open();
      const failing = store.transact(async (tx) => {
        tx.put(k("a"), bytes("1"));
        throw new TypeError("no");
      });
      await expect(failing).rejects.toThrow(TypeError);
      expect(await read(store, k("a"))).toBeUndefined();
    });

    it("throws when a transaction is used after its work has ended", async () => {
      const { store } = await open();
      let leaked: { put(key: Uint8Array, value: Uint8Array): void } | undefined;
      await store.transact(async (tx) => {
        leaked = tx;
      });
      expect(() => leaked?.put(k("a"), bytes("1"))).toThrow("after its work had ended");
    });
  });
}
