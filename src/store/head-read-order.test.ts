import fc from "fast-check";
import { it } from "vitest";

import {
  queueStep,
  runQueueStep,
  expectSerialOrder,
} from "../../tests/harness/store/queue-steps.ts";
import type { Engine } from "./engine.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { memoryEngine } from "./memory/open-memory-store.ts";
import type { Store } from "./store.ts";
import { TransactionalStore } from "./transactional-store.ts";

/** The store (of two) that runs a step, and the event-loop iterations before it. */
const client = fc.record({ step: queueStep, side: fc.nat(1), wait: fc.nat(4) });
const script = fc.record({
  clients: fc.array(client, { minLength: 10, maxLength: 60 }),
  /** Event-loop iterations that each store's commits wait for the write lock. */
  delays: fc.tuple(fc.nat(6), fc.nat(6)),
  present: fc.array(fc.nat(30), { maxLength: 20 }),
});

async function waitIterations(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A store like that of another process: its attempts are often stale when it gets the write
 *  lock. */
function storeOn(engine: Engine, delay: number): Store {
  const slow: Engine = {
    open: () => engine.open(),
    commit: async (decide) => {
      await waitIterations(delay);
      await engine.commit(decide);
    },
    close: () => engine.close(),
  };
  return new TransactionalStore({ engine: slow, clock: manualClock() });
}

it("head reads through two stores on one engine are serialisable", async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ clients, delays, present }) => {
      const engine = memoryEngine();
      const stores = delays.map((delay) => storeOn(engine, delay)) as [Store, Store];
      const first = { kind: "put", limit: 1, end: 0, keep: 0, move: 0, runInBatch: false } as const;
      const initial = present.map((position, index) =>
        runQueueStep(stores[0], { ...first, position }, `first ${index}`),
      );
      await Promise.all(initial);
      const run = async ({ step, side, wait }: (typeof clients)[number], index: number) => {
        await waitIterations(wait);
        await runQueueStep(stores[side === 0 ? 0 : 1], step, `${index}`);
      };
      await Promise.all(clients.map(run));
      await expectSerialOrder(stores[0], clients.length + present.length);
      await expectSerialOrder(stores[1], clients.length + present.length);
    }),
    { numRuns: 200, seed: 5 },
  );
});
