import { describe, expect, it } from "vitest";

import { storeConformance } from "./conformance.ts";
import { increment, k, put, read } from "./conformance/store-steps.ts";
import { FaultyStore, StoreCrashed } from "./faulty.ts";
import { manualClock } from "./manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { StoreUnavailable } from "./store.ts";

const hourMilliseconds = 3_600_000;

storeConformance(
  "a store with delays, conflicts and a jumping wall clock",
  async (options) =>
    new FaultyStore(openMemoryStore(options), {
      seed: 11,
      conflictShare: 0.3,
      delayIterationsMax: 3,
      disturb: (random) => {
        if (random < 0.2) options.clock.jumpWall((random - 0.1) * hourMilliseconds);
      },
    }),
  { runsAreCounted: false },
);

describe("FaultyStore", () => {
  const inner = (): ReturnType<typeof openMemoryStore> => openMemoryStore({ clock: manualClock() });

  it("commits nothing of a transaction that fails", async () => {
    const sound = inner();
    const faulty = new FaultyStore(sound, { seed: 3, unavailableShare: 0.5 });
    let committed = 0;
    for (let round = 0; round < 40; round += 1) {
      try {
        await faulty.transact((tx) => increment(tx, k("a")));
        committed += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(StoreUnavailable);
      }
    }
    expect(committed).toBeGreaterThan(5);
    expect(committed).toBeLessThan(35);
    expect(await read(sound, k("a"))).toBe(String(committed));
  });

  it("crashes before or after a commit and stays crashed", async () => {
    for (const when of ["before", "after"] as const) {
      const sound = inner();
      const faulty = new FaultyStore(sound, { seed: 3, crash: { atTransaction: 2, when } });
      await put(faulty, k("a"), "1");
      await expect(put(faulty, k("a"), "2")).rejects.toThrow(StoreCrashed);
      await expect(read(faulty, k("a"))).rejects.toThrow(StoreCrashed);
      expect(await read(sound, k("a"))).toBe(when === "before" ? "1" : "2");
    }
  });
});
