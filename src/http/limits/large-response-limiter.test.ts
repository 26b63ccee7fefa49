import { describe, expect, it } from "vitest";
import {
  LargeResponseLimiter,
  responsesPerRoundMax,
  responsesRunningMax,
  responsesWaitingMax,
} from "./processing-limits.ts";
import { realClock } from "../../host/world.ts";

describe("the limiter of large responses", () => {
  it("admits a few at a time, in FIFO order, and all in the end", async () => {
    const turns = new LargeResponseLimiter(realClock());
    const order: number[] = [];
    let running = 0;
    let runningMax = 0;
    const work = async (index: number): Promise<void> => {
      await turns.enter();
      order.push(index);
      running += 1;
      runningMax = Math.max(runningMax, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      turns.leave();
    };
    await Promise.all(Array.from({ length: 30 }, (_, index) => work(index)));
    expect(order).toEqual(Array.from({ length: 30 }, (_, index) => index));
    expect(runningMax).toBe(responsesPerRoundMax);
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(turns.enter()).toBeUndefined();
  });

  it("is full while the queue has its maximum length", async () => {
    const turns = new LargeResponseLimiter(realClock());
    const entered: Promise<void>[] = [];
    const first = responsesPerRoundMax + responsesWaitingMax;
    for (let count = 0; count < first; count += 1) {
      expect(turns.isFull).toBe(false);
      entered.push(turns.enter() ?? Promise.resolve());
    }
    expect(turns.isFull).toBe(true);
    await entered[responsesPerRoundMax];
    expect(turns.isFull).toBe(false);
    for (const entrance of entered) {
      await entrance;
      turns.leave();
    }
  });

  it("limits the responses in progress", async () => {
    const turns = new LargeResponseLimiter(realClock());
    let begun = 0;
    const ends: (() => void)[] = [];
    const work = async (): Promise<void> => {
      await turns.enter();
      begun += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      turns.leave();
    };
    const all = Promise.all(Array.from({ length: 20 }, work));
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toBe(responsesRunningMax);
    for (let ended = 0; ended < 20; ended += 1) {
      ends[ended]?.();
      for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
  });
});
