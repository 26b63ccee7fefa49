import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Store, Transaction } from "../store.ts";
import { opener, racers, times } from "./harness.ts";
import { below, bytes, increment, k, put, text } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";

const place = fc.integer({ min: 0, max: 30 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("take"), limit: fc.integer({ min: 1, max: 3 }), keep: fc.nat(3) }),
  fc.record({ kind: fc.constant("take"), limit: fc.constant(1), keep: fc.constant(3) }),
  fc.record({ kind: fc.constant("put"), place }),
  fc.record({ kind: fc.constant("delete"), place }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** What a step did, and the how-manieth it was. */
interface Done {
  readonly order: number;
  readonly step: Step;
  readonly taken: readonly number[];
}

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
      const script = fc.array(fc.array(step, { maxLength: 20 }), { maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(script, async (rounds) => {
          const { store } = await open();
          const present = new Set<number>();
          for (const steps of rounds) {
            const done = await Promise.all(steps.map((each) => runStep(store, each)));
            for (const each of done.toSorted((left, right) => left.order - right.order)) {
              expect(each.taken).toEqual(expected(present, each.step));
            }
          }
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
    { inTurn: true },
  );
}

function runStep(store: Store, each: Step): Promise<Done> {
  return store.transact(
    async (tx) => ({
      taken: await apply(tx, each),
      order: await increment(tx, k("n")),
      step: each,
    }),
    { inTurn: true },
  );
}

async function apply(tx: Transaction, each: Step): Promise<number[]> {
  if (each.kind === "put" && "place" in each) tx.put(k("q", each.place), bytes(`${each.place}`));
  if (each.kind === "delete" && "place" in each) tx.delete(k("q", each.place));
  if (!("limit" in each)) return [];
  const found = await tx.take({ ...below("q"), limit: each.limit });
  found.forEach(({ key }, index) => {
    if (index !== each.keep) tx.delete(key);
  });
  return found.map(({ value }) => Number(text(value)));
}

/** The same on a set. */
function expected(present: Set<number>, each: Step): number[] {
  if (each.kind === "put" && "place" in each) present.add(each.place);
  if (each.kind === "delete" && "place" in each) present.delete(each.place);
  if (!("limit" in each)) return [];
  const found = [...present].toSorted((left, right) => left - right).slice(0, each.limit);
  found.forEach((taken, index) => {
    if (index !== each.keep) present.delete(taken);
  });
  return found;
}
