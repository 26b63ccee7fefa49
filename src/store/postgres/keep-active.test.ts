import { describe, expect, it } from "vitest";
import type { StateView } from "../engine.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { keepActive } from "./state-pool.ts";

const noWork = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a view that is kept active", () => {
  it("is read every 30 s until it ends, also after a failure", async () => {
    const clock = manualClock();
    let reads = 0;
    const get = (): Promise<undefined> => {
      reads += 1;
      return reads === 1 ? Promise.reject(new Error("lost")) : Promise.resolve(undefined);
    };
    const end = keepActive({ get } as unknown as StateView, clock);
    clock.advance(29_999);
    expect(reads).toBe(0);
    for (const expected of [1, 2]) {
      clock.advance(30_000);
      await noWork();
      expect(reads).toBe(expected);
    }
    end();
    clock.advance(100_000);
    expect(reads).toBe(2);
  });
});
