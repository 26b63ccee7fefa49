import { describe, expect, it } from "vitest";
import { spend, unitsPerIterationMax } from "./loop-share.ts";

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("the work limit per event-loop iteration", () => {
  it("is shared by all callers and renewed in the next iteration", async () => {
    await nextIteration();
    expect(spend(unitsPerIterationMax - 2)).toBeUndefined();
    expect(spend(1)).toBeUndefined();
    const first = spend(1);
    expect(first).toBeInstanceOf(Promise);
    expect(spend(1)).toBe(first);
    await first;
    expect(spend(1)).toBeUndefined();
  });

  it("runs the steps of long work in different iterations", async () => {
    await nextIteration();
    let iterations = 0;
    const counting = { isOver: false };
    const count = async (): Promise<void> => {
      for (; !counting.isOver; iterations += 1) await nextIteration();
    };
    const counted = count();
    const startedAt: number[] = [];
    for (let step = 0; step < 5; step += 1) {
      startedAt.push(iterations);
      await spend(unitsPerIterationMax);
    }
    counting.isOver = true;
    await counted;
    expect(new Set(startedAt).size).toBe(5);
  });
});
