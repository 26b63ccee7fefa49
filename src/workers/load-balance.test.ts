import { beforeEach, describe, expect, it } from "vitest";
import { manualClock, type ManualClock } from "../../tests/harness/manual-clock.ts";
import { LoadBalance, loadMilliseconds } from "./load-balance.ts";

const workers = ["first", "second"];
let clock: ManualClock;
let balance: LoadBalance<string>;

beforeEach(() => {
  clock = manualClock();
  balance = new LoadBalance(clock);
});

function report(load: number, other: number): number {
  balance.report("second", other, workers);
  return balance.report("first", load, workers);
}

describe("the load balance of workers", () => {
  it.each([
    { load: 1, other: 0, share: 0.5, what: "half, if the other worker is idle" },
    { load: 1, other: 0.5, share: 0.25, what: "what exceeds the average" },
    { load: 0.9, other: 0.75, share: 0, what: "nothing for a small difference" },
    { load: 0.75, other: 0, share: 0, what: "nothing of a worker that is not busy" },
    { load: 0.85, other: 1, share: 0, what: "nothing of the worker with less load" },
  ])("closes $what", ({ load, other, share }) => {
    expect(report(load, other)).toBeCloseTo(share);
  });

  it("waits for the effect before it closes more", () => {
    expect(report(1, 0)).toBe(0.5);
    clock.advance(loadMilliseconds);
    expect(report(1, 0)).toBe(0);
    clock.advance(loadMilliseconds);
    expect(report(1, 0)).toBe(0.5);
  });

  it("forgets the load of workers that were replaced", () => {
    balance.report("replaced", 0, workers);
    balance.report("second", 0.75, workers);
    expect(balance.report("first", 0.9, workers)).toBe(0);
  });

  it("waits for the first report of every worker", () => {
    expect(balance.report("first", 1, workers)).toBe(0);
  });
});
