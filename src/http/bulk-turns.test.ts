import { describe, expect, it } from "vitest";
import { BulkTurns, bulkyAnswersMax, bulkyWaitingMax } from "./bulk-turns.ts";

describe("turns of operations with long answers", () => {
  it("let a few go at a time, in the order they came, and none wait for ever", async () => {
    const turns = new BulkTurns();
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
    };
    await Promise.all(Array.from({ length: 30 }, (_, index) => work(index)));
    expect(order).toEqual(Array.from({ length: 30 }, (_, index) => index));
    expect(runningMax).toBe(bulkyAnswersMax);
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(turns.enter()).toBeUndefined();
  });

  it("are full when so many wait, until the next of them go", async () => {
    const turns = new BulkTurns();
    const entered: Promise<void>[] = [];
    const first = bulkyAnswersMax + bulkyWaitingMax;
    for (let count = 0; count < first; count += 1) {
      expect(turns.isFull).toBe(false);
      entered.push(turns.enter() ?? Promise.resolve());
    }
    expect(turns.isFull).toBe(true);
    await entered[bulkyAnswersMax];
    expect(turns.isFull).toBe(false);
    await Promise.all(entered);
  });
});
