import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { keyBytesMax } from "../../../src/encoding/keys.ts";
import { opener } from "./harness.ts";
import { below, bytes, k, put, values } from "./store-steps.ts";
import type { NewStore } from "./harness.ts";
import { inForm } from "../long-form.ts";

const name = fc.string({ unit: fc.constantFrom("a", "b", "\0", "é"), maxLength: 3 });
const command = fc.record({
  kind: fc.constantFrom("put", "put", "delete", "range"),
  name,
  other: name,
  value: fc.string({ maxLength: 4 }),
  reverse: fc.boolean(),
  limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
});
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

export function describeOrder(newStore: NewStore): void {
  const open = opener(newStore);

  describe("order and size", () => {
    it("behaves like a sorted map", async () => {
      const script = fc.array(fc.array(command, { maxLength: 8 }), { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(script, async (transactions) => {
          const { store } = await open();
          let model = new Map<string, string>();
          for (const commands of transactions) {
            model = await store.transact(async (tx) => {
              const next = new Map(model);
              for (const each of commands) await runCommand(tx, next, each);
              return next;
            });
          }
          const found = await store.snapshot((view) => values(view, below("m")));
          expect(found).toEqual(expected(model, { start: "", end: "\u{10ffff}" }));
          await store.close();
        }),
        { numRuns: inForm(12, 40), seed: 7 },
      );
    });

    it("reads ranges longer than a chunk in both directions, with own writes between", async () => {
      const { store } = await open();
      const count = 1500;
      await store.transact(async (tx) => {
        for (let index = 0; index < count; index += 2) tx.put(k("n", index), bytes(`${index}`));
      });
      await store.transact(async (tx) => {
        for (let index = 1; index < count; index += 2) tx.put(k("n", index), bytes(`${index}`));
        const all = Array.from({ length: count }, (_, index) => `${index}`);
        expect(await values(tx, below("n"))).toEqual(all);
        expect(await values(tx, { ...below("n"), reverse: true })).toEqual(all.toReversed());
        expect(await values(tx, { ...below("n"), limit: 700 })).toEqual(all.slice(0, 700));
      });
      expect(await store.snapshot((view) => values(view, below("n")))).toHaveLength(count);
    });

    it("distinguishes keys of maximum length and rejects longer ones", async () => {
      const { store } = await open();
      const long = (last: number): Uint8Array => new Uint8Array(keyBytesMax).fill(7).fill(last, -1);
      await store.transact(async (tx) => {
        for (const last of [3, 1, 2]) tx.put(long(last), bytes(String(last)));
      });
      const bounds = { start: long(0), end: long(9) };
      expect(await store.snapshot((view) => values(view, bounds))).toEqual(["1", "2", "3"]);
      const tooLong = new Uint8Array(keyBytesMax + 1).fill(7);
      const refused = store.transact(async (tx) => tx.put(tooLong, bytes("x")));
      await expect(refused).rejects.toThrow(RangeError);
    });

    it("stores large and empty values", async () => {
      const { store } = await open();
      const large = new Uint8Array(3_000_000).map((_, index) => index % 251);
      await store.transact(async (tx) => {
        tx.put(k("large"), large);
        tx.put(k("empty"), new Uint8Array(0));
      });
      await put(store, k("small"), "small");
      await store.snapshot(async (view) => {
        const found = (await view.get(k("large"))) ?? new Uint8Array(0);
        await view.get(k("small"));
        expect(Buffer.compare(found, large)).toBe(0);
        expect(await view.get(k("empty"))).toEqual(new Uint8Array(0));
        expect(found.constructor).toBe(Uint8Array);
      });
    });
  });
}

type Transaction = Parameters<typeof values>[0] & {
  put(key: Uint8Array, value: Uint8Array): void;
  delete(key: Uint8Array): void;
};

async function runCommand(
  tx: Transaction,
  model: Map<string, string>,
  { kind, name: first, other, value, reverse, limit }: Command,
): Promise<void> {
  if (kind === "put") {
    tx.put(k("m", first), bytes(value));
    model.set(first, value);
  } else if (kind === "delete") {
    tx.delete(k("m", first));
    model.delete(first);
  } else {
    const bounds = { start: k("m", first), end: k("m", other), reverse };
    const found = await values(tx, limit === undefined ? bounds : { ...bounds, limit });
    const all = expected(model, { start: first, end: other });
    const ordered = reverse ? all.toReversed() : all;
    expect(found).toEqual(ordered.slice(0, limit ?? ordered.length));
  }
}

/** The names of this test sort alike in UTF-16 and UTF-8. */
function expected(
  model: ReadonlyMap<string, string>,
  { start, end }: { readonly start: string; readonly end: string },
): string[] {
  const names = [...model.keys()].filter((each) => each >= start && each < end);
  return names
    .toSorted((left, right) => (left < right ? -1 : 1))
    .map((each) => model.get(each) ?? "");
}
