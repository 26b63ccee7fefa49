import fc from "fast-check";
import { expect, it } from "vitest";

import { doneAlone, lineOf, lineStep, runLineStep, witnessesOf } from "./conformance/line-steps.ts";
import type { Engine } from "./engine.ts";
import { manualClock } from "./manual-clock.ts";
import { memoryEngine } from "./memory/memory-engine.ts";
import type { Store } from "./store.ts";
import { TransactionalStore } from "./transactional-store.ts";

/** Through which of two stores a step goes, and how many turns of the event loop it waits first. */
const client = fc.record({ step: lineStep, side: fc.nat(1), wait: fc.nat(4) });
const script = fc.record({
  clients: fc.array(client, { minLength: 10, maxLength: 60 }),
  /** How many turns the commits of each store wait for the write lock. */
  delays: fc.tuple(fc.nat(6), fc.nat(6)),
  present: fc.array(fc.nat(30), { maxLength: 20 }),
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** As another process does it: what one store has decided on is often gone when it commits. */
function storeOn(engine: Engine, delay: number): Store {
  const slow: Engine = {
    open: () => engine.open(),
    commit: async (decide) => {
      await turns(delay);
      await engine.commit(decide);
    },
    close: () => engine.close(),
  };
  return new TransactionalStore({ engine: slow, clock: manualClock() });
}

it("two stores on one engine take from a line as if everyone had come alone", async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ clients, delays, present }) => {
      const engine = memoryEngine();
      const stores = delays.map((delay) => storeOn(engine, delay)) as [Store, Store];
      const first = { kind: "put", limit: 1, end: 0, keep: 0, move: 0, runInBatch: false } as const;
      const begun = present.map((place, index) =>
        runLineStep(stores[0], { ...first, place }, `first ${index}`),
      );
      await Promise.all(begun);
      const run = async ({ step, side, wait }: (typeof clients)[number], index: number) => {
        await turns(wait);
        await runLineStep(stores[side === 0 ? 0 : 1], step, `${index}`);
      };
      await Promise.all(clients.map(run));
      const witnesses = await witnessesOf(stores[0]);
      expect(witnesses).toHaveLength(clients.length + present.length);
      const alone = doneAlone(witnesses);
      expect(witnesses.map(({ found }) => found)).toEqual(alone.found);
      expect(await lineOf(stores[1])).toEqual(alone.line);
    }),
    { numRuns: 200, seed: 5 },
  );
});
