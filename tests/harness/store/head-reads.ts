import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Store } from "../../../src/store/store.ts";
import { opener, racers, times } from "./harness.ts";
import type { NewStore } from "./harness.ts";
import { queueStep, runQueueStep, type QueueStep, expectSerialOrder } from "./queue-steps.ts";
import { below, bytes, k, put, text } from "./store-steps.ts";
import { inForm } from "../long-form.ts";

export function describeHeadReads(newStore: NewStore): void {
  const open = opener(newStore);

  describe("head reads", () => {
    it("return the same as a range, including own changes", async () => {
      const { store } = await open();
      for (const index of [1, 2, 3, 4]) await put(store, k("q", index), String(index));
      const bounds = { ...below("q"), limit: 2 };
      const seen = await store.snapshot(async (view) => textsOf(await view.readHead(bounds)));
      expect(seen).toEqual(["1", "2"]);
      const last = { ...bounds, reverse: true, limit: 3 };
      expect(await store.snapshot(async (view) => textsOf(await view.readHead(last)))).toEqual([
        "4",
        "3",
        "2",
      ]);
      await store.transact(async (tx) => {
        tx.delete(k("q", 1));
        tx.put(k("q", 0), bytes("0"));
        expect(textsOf(await tx.readHead(bounds))).toEqual(["0", "2"]);
        expect(textsOf(await tx.readHead({ ...below("q"), limit: 9 }))).toHaveLength(4);
      });
    });

    it("give each of many concurrent dequeues another entry", async () => {
      const { store } = await open();
      await store.transact(async (tx) => {
        for (let index = 0; index < racers; index += 1) tx.put(k("q", index), bytes(`${index}`));
      });
      const dequeued = await times(racers, () => dequeue(store));
      expect(new Set(dequeued).size).toBe(racers);
      expect(await dequeue(store)).toBeUndefined();
    });

    it("are serialisable with concurrent puts, deletes and dequeues", async () => {
      const script = fc.array(fc.array(queueStep, { maxLength: 20 }), { maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(script, async (rounds) => {
          const { store } = await open();
          for (const [round, steps] of rounds.entries()) {
            const run = (step: QueueStep, index: number): Promise<void> =>
              runQueueStep(store, step, `${round} ${index}`);
            await Promise.all(steps.map(run));
          }
          await expectSerialOrder(store, rounds.flat().length);
          await store.close();
        }),
        { numRuns: inForm(15, 60), seed: 11 },
      );
    });
  });
}

function textsOf(entries: readonly { readonly value: Uint8Array }[]): (string | undefined)[] {
  return entries.map(({ value }) => text(value));
}

/** Runs only inside the batch, so that one batch contains many dequeues. */
function dequeue(store: Store): Promise<string | undefined> {
  return store.transact(
    async (tx) => {
      const [first] = await tx.readHead({ ...below("q"), limit: 1 });
      if (first !== undefined) tx.delete(first.key);
      return text(first?.value);
    },
    { runInBatch: true },
  );
}
