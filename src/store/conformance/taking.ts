import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Store } from "../store.ts";
import { opener, racers, times } from "./harness.ts";
import type { NewStore } from "./harness.ts";
import { doneAlone, lineOf, lineStep, runLineStep, witnessesOf } from "./line-steps.ts";
import type { LineStep } from "./line-steps.ts";
import { below, bytes, k, put, text } from "./store-steps.ts";

export function describeTaking(newStore: NewStore): void {
  const open = opener(newStore);

  describe("taking from the start of a range", () => {
    it("shows what a range shows, own changes included", async () => {
      const { store } = await open();
      for (const index of [1, 2, 3, 4]) await put(store, k("q", index), String(index));
      const bounds = { ...below("q"), limit: 2 };
      const seen = await store.snapshot(async (view) => textsOf(await view.take(bounds)));
      expect(seen).toEqual(["1", "2"]);
      const last = { ...bounds, reverse: true, limit: 3 };
      expect(await store.snapshot(async (view) => textsOf(await view.take(last)))).toEqual([
        "4",
        "3",
        "2",
      ]);
      await store.transact(async (tx) => {
        tx.delete(k("q", 1));
        tx.put(k("q", 0), bytes("0"));
        expect(textsOf(await tx.take(bounds))).toEqual(["0", "2"]);
        expect(textsOf(await tx.take({ ...below("q"), limit: 9 }))).toHaveLength(4);
      });
    });

    it("gives each of many takers something else", async () => {
      const { store } = await open();
      await store.transact(async (tx) => {
        for (let index = 0; index < racers; index += 1) tx.put(k("q", index), bytes(`${index}`));
      });
      const taken = await times(racers, () => takeFirst(store));
      expect(new Set(taken).size).toBe(racers);
      expect(await takeFirst(store)).toBeUndefined();
    });

    it("is as if everyone had come alone, whoever puts or takes in between", async () => {
      const script = fc.array(fc.array(lineStep, { maxLength: 20 }), { maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(script, async (rounds) => {
          const { store } = await open();
          for (const [round, steps] of rounds.entries()) {
            const run = (step: LineStep, index: number): Promise<void> =>
              runLineStep(store, step, `${round} ${index}`);
            await Promise.all(steps.map(run));
          }
          const witnesses = await witnessesOf(store);
          expect(witnesses).toHaveLength(rounds.flat().length);
          const alone = doneAlone(witnesses);
          expect(witnesses.map(({ found }) => found)).toEqual(alone.found);
          expect(await lineOf(store)).toEqual(alone.line);
          await store.close();
        }),
        { numRuns: 60, seed: 11 },
      );
    });
  });
}

function textsOf(entries: readonly { readonly value: Uint8Array }[]): (string | undefined)[] {
  return entries.map(({ value }) => text(value));
}

/** Never runs before its turn, so that one batch holds many takers. */
function takeFirst(store: Store): Promise<string | undefined> {
  return store.transact(
    async (tx) => {
      const [first] = await tx.take({ ...below("q"), limit: 1 });
      if (first !== undefined) tx.delete(first.key);
      return text(first?.value);
    },
    { runInBatch: true },
  );
}
