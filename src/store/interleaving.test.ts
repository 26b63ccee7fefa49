import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { bytes, k, put, text } from "../../tests/harness/store/store-steps.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";

const clients = 4;

/** Number of clients that succeed when all send the same If-Match and the scheduler reorders their
 *  awaits. */
async function winners(scheduler: fc.Scheduler, readMethod: "get" | "peek"): Promise<number> {
  const store = openMemoryStore({ clock: manualClock() });
  await put(store, k("etag"), "first");
  const client = async (index: number): Promise<boolean> => {
    await scheduler.schedule(Promise.resolve(), `client ${index} starts`);
    return store.transact(async (tx) => {
      const etag = text(await tx[readMethod](k("etag")));
      await scheduler.schedule(Promise.resolve(), `client ${index} has read ${etag}`);
      if (etag !== "first") return false;
      tx.put(k("etag"), bytes(`by ${index}`));
      return true;
    });
  };
  const all = Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  const won = await scheduler.waitFor(all);
  await store.close();
  return won.filter(Boolean).length;
}

describe("clients with the same If-Match", () => {
  it("have exactly one winner in every interleaving", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        expect(await winners(scheduler, "get")).toBe(1);
      }),
      { numRuns: 60 },
    );
  });

  it("have several winners if reads are not validated, so the test can fail", async () => {
    const result = await fc.check(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        expect(await winners(scheduler, "peek")).toBe(1);
      }),
      { numRuns: 60 },
    );
    expect(result.failed).toBe(true);
  });
});
